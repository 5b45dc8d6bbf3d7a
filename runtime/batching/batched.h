#pragma once
// Batched tensors: what a function sees inside vmap. A batched tensor stands for one sample of a value
// [N, ...]: it has the shape of a sample, and an op on it runs on all samples. Its storage belongs to a
// BatchDevice, which holds the value instead of memory, so that nothing reads its elements by mistake. N is
// the product of the sizes of its levels. Each vmap that runs is a level, and the index of the innermost
// level varies fastest. The tape records the ops on the values, never on samples: a batched tensor has no
// node of its own.
//
// The tape and run() call the functions of this file. The functions that need ops are implemented in
// runtime/vmap/. For the tensors' thread.
#include <functional>

#include "runtime/core/op.h"

namespace lunagrad {

struct GradOptions;

enum class Randomness : uint8_t { error, different, same };

struct BatchLevel {
  uint64_t id = 0;  // grows with time, so that ids of inner levels are larger
  int64_t size = 0;
  bool operator==(const BatchLevel&) const = default;
};
using BatchLevels = std::vector<BatchLevel>;  // the outermost first

// Counts the batched tensors and the running vmaps of the thread. While it is 0, no function of this file
// needs to be called.
extern constinit thread_local int64_t batching_in_use;

// --- running vmaps ---

uint64_t enter_batch(int64_t size, Randomness);  // returns the id of the new level
void leave_batch(uint64_t id);                   // also ends the levels inside it that an error left open
const BatchLevels& active_levels();
// Whether a vmap runs. Samples that a script still refers to count in batching_in_use long after theirs.
inline bool in_batch() { return batching_in_use && !active_levels().empty(); }
Randomness randomness_of(const BatchLevel&);

// --- batched tensors ---

bool is_batched(const Tensor&);
const Tensor& batch_value(const Tensor&);  // [N, ...]
BatchLevels levels_of(const Tensor&);      // none for a tensor that is not batched
Tensor make_batched(const Tensor& value, BatchLevels);
Device& physical_device(Device&);  // for a BatchDevice the device of its values, else the same

// Thrown by an attempt to read the elements of a batched tensor.
class BatchedRead : public Error {
 public:
  BatchedRead();
};

// --- what runtime/vmap/ implements ---

// Whether run() passes the call to run_batched(): an operand is batched, or the call draws random numbers in
// a vmap.
bool concerns_batches(const Call&);
void run_batched(Call&);
Tensor apply_in_place_batched(const Op&, Operands in, Values params);
// lunagrad::grad() when outputs or inputs are batched.
std::vector<Tensor> grad_of_batched(const TensorList& outputs, const TensorList& inputs,
                                    const TensorList& seeds, const GradOptions&);
// Calls f once for each sample of the inputs and stacks its results.
TensorList for_each_sample(const TensorList& inputs, const std::function<TensorList(const TensorList&)>& f);

}  // namespace lunagrad
