#pragma once
// Values that a script shares with the program around it as lg.host: what Lua has in plain data, and tensors.
//
// A value with a Tensor belongs to the thread of the tensor. copied() replaces tensors by copies of their
// elements: such a value may go to another thread, where with_tensors() makes tensors of it.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

struct SessionTable;

// The elements of a tensor, in row-major order. Immutable: any thread.
struct TensorCopy {
  Shape shape;
  DType dtype = DType::f32;
  std::shared_ptr<const std::string> bytes;

  // Waits for the tensor's device. Error when the tensor is undefined, or was left half-written.
  static TensorCopy of(const Tensor&);
  Tensor tensor() const;  // on the CPU
};

using SessionNil = std::monostate;
struct SessionValue {
  std::variant<SessionNil, bool, int64_t, double, std::string, Tensor, TensorCopy,
               std::shared_ptr<const SessionTable>>
      is;

  bool nil() const { return is.index() == 0; }
};

// A table of Lua: the elements 1, 2, …, which are never nil, and the fields.
struct SessionTable {
  std::vector<SessionValue> items;
  std::map<std::string, SessionValue> fields;
};

// Tables may be nested so deep: a table without tables has depth 1, any other value 0.
constexpr size_t kMostNestedTables = 64;
size_t depth_of(const SessionValue&);

// Error as of TensorCopy::of().
SessionValue copied(const SessionValue&);
SessionValue with_tensors(const SessionValue&);
// Tensors without their history.
SessionValue detached(const SessionValue&);

// A tensor, or the 0-d tensor of a number or a boolean; undefined for everything else.
Tensor as_tensor(const SessionValue&);

}  // namespace lunagrad
