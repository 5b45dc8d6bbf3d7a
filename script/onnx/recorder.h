#pragma once
// Records the computation of a model as a list of steps. As the Trace of the context it records each op that
// draws random numbers or depends on inputs or parameters. All other tensors are constants. A tensor is
// identified by its memory, so that detached handles and views are recognized. Each step keeps its tensors
// alive, so that their memory is not reused. Belongs to the thread of its context.
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/op.h"

namespace lunagrad::onnx_export {

// An operand or result of a step. Constants and parameters have a tensor; inputs and results have none.
struct Value {
  Tensor tensor;
  std::string name;      // name in the graph; "" until it has one
  uint32_t version = 0;  // of the tensor's memory when it was first read
  bool parameter = false;
};
constexpr int kAbsent = -1;
using ValueTable = std::vector<Value>;  // a step names a value by its index here

// A recorded call.
struct Step {
  Call call;
  std::vector<int> in, out;  // indices into the ValueTable; kAbsent: an absent operand
  SourceLine line;
  uint32_t module = 0;
};

class Recorder final : public Trace {
 public:
  explicit Recorder(ValueTable&);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;

  // Declares that from now on the tensor is this value (an index into the ValueTable).
  void know(const Tensor&, int value);
  // The value of a tensor; an unknown tensor becomes a new constant. Sets complaint() when the tensor's
  // memory was written in a way that a graph cannot express.
  int value_of(const Tensor&);
  std::vector<Step> take() { return std::move(steps_); }
  bool knows(const Tensor&) const;  // whether the tensor's memory belongs to a value

  void ran(const Call&, uint64_t ticks) override;
  void fell_back(const Call&, const char* reason) override;
  // Why the recording cannot be used; "" if it can. (A Trace must not throw: the op has already run.)
  const std::string& complaint() const { return complaint_; }

 private:
  struct Entry {
    LayoutRef layout;
    int64_t offset;
    DType dtype;
    uint32_t version;
    int value;
  };
  struct Memory {
    Ref<Storage> storage;
    std::vector<Entry> entries;
  };
  Entry* find(const Tensor&);
  int operand(const Call&, size_t i, bool in_place);

  ValueTable& values_;
  std::unordered_map<const Storage*, Memory> memory_;
  std::vector<Step> steps_;
  std::string complaint_;
  Trace* const previous_;
};

}  // namespace lunagrad::onnx_export
