#pragma once
// Records what a model computed as a list of steps: a listener of the context that records each op whose
// result depends on inputs or parameters. Everything else is a constant. Tensors are identified by their
// memory, so that detached handles and views are followed; each step keeps its tensors alive, so that their
// memory is not reused. Belongs to the thread of its context.
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/context.h"
#include "runtime/op.h"

namespace lunagrad::onnx_export {

// What can be an operand. A constant or parameter has its tensor, a result has none.
struct Value {
  Tensor tensor;
  std::string name;      // in the graph; "" until it is known
  uint32_t version = 0;  // of a constant's memory when it was read
  bool parameter = false;
};
constexpr int kAbsent = -1;
using ValueTable = std::vector<Value>;  // indexed by what steps call a value

struct Step {
  Call call;
  std::vector<int> in, out;  // of the table; kAbsent for an operand that was not given
  SourceLine line;
  uint32_t module = 0;
};

class Recorder final : public Trace {
 public:
  explicit Recorder(ValueTable&);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;

  // The tensor is this value from now on.
  void know(const Tensor&, int value);
  // Which value a tensor is; one that was not seen is a new constant. Error when its memory was written to in
  // a way that a graph cannot say.
  int value_of(const Tensor&);
  std::vector<Step> take() { return std::move(steps_); }
  bool knows(const Tensor&) const;

  void ran(const Call&, uint64_t ticks) override;
  void fell_back(const Call&, const char* reason) override;
  // Why the recording cannot be used, "" if it can. (A listener does not throw: the op has run.)
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
