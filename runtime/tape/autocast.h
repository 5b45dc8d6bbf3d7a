#pragma once
// Mixed precision. In an autocast region matrix products (matmul, linear, convolutions, attention) run in a
// 16-bit type; ops that lose precision there (exponentials, sums, norms except batch_norm, softmax, losses)
// run in f32; other ops that need one type run in the promoted type of their operands. Weights stay in f32. A
// weight is cast once for each of its versions, and the ops of the region share the cast, so that the
// weight's gradient reaches f32 through one cast. The rules are PyTorch's; each op's record has its own
// (AutocastPolicy). A backward pass runs without autocast, in the types of its forward pass. For the thread
// of the tensors.
#include <unordered_map>

#include "runtime/core/op.h"

namespace lunagrad {

class Autocast {
 public:
  explicit Autocast(DType type) : type_(type) {}
  DType type() const { return type_; }  // f16 or bf16
  // Runs the call with its operands cast as the op's policy says.
  void run(Call&);

 private:
  struct Cast {
    Tensor weight;  // kept alive, so that no other tensor gets its id
    uint32_t version;
    Tensor value;
  };
  Tensor cached_cast(const Tensor&);
  const DType type_;
  std::unordered_map<uint64_t, Cast> weights_;  // by tensor id
};

// Makes `region` the autocast region of the thread's context for the life of the object; null turns autocast
// off.
class UseAutocast {
 public:
  explicit UseAutocast(std::shared_ptr<Autocast> region)
      : previous_(std::exchange(context().autocast, std::move(region))) {}
  ~UseAutocast() { context().autocast = std::move(previous_); }
  UseAutocast(const UseAutocast&) = delete;

 private:
  std::shared_ptr<Autocast> previous_;
};

// A new region of that type. Error for a type other than f16 and bf16.
std::shared_ptr<Autocast> make_autocast(DType);

// For the gradients of a scaled loss: multiplies each by `factor` in place. Returns whether all are finite,
// with one wait for the device.
bool unscale_gradients(const TensorList&, double factor);

}  // namespace lunagrad
