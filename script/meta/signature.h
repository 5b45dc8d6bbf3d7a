#pragma once
// How a script calls an op: its operands and parameters in PyTorch's order. Derived from the op record and
// built once per process; the bindings, the help and the tape read it. Any thread.
#include <span>
#include <string>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad {

// One argument: input `index` or parameter `index` of the op.
struct Slot {
  const char* name;
  bool is_input;
  size_t index;
  bool required;
};

struct Signature {
  const Op* op;
  const Op* full;  // runs if the call has more than the operands: op, or its long form (arithmetic.cpp)
  std::vector<Slot> slots;
  bool only_inputs;   // no parameters, lists or optional operands
  uint32_t numbers;   // bit i: a Lua number may replace input i
  bool extends;       // full has the inputs and parameters of op, followed by further parameters
  bool creates;       // creates a tensor: also takes the options device and requires_grad
  std::string names;  // "input, dim, keepdim", for errors

  const Slot* find(std::string_view name) const;
  // Whether the list at slot i may be written as separate integers: no later slot takes a number.
  bool spreads(size_t slot) const;
};

Signature make_signature(const Op&);  // for an op that is not in signatures()
// The signatures of all visible and hidden ops, in the ops' order.
const std::vector<Signature>& signatures();
const Signature* find_signature(std::string_view op);

// A second name under which scripts may call an op.
struct Alias {
  const char* name;
  const char* op;
};
std::span<const Alias> aliases();

// The table of lg that holds the op, whose functions are not methods: "fft" for fft.rfft; "" for most ops.
std::string table_of(const Op&);
// Whether the op has an in-place form `name_`.
bool has_in_place_form(const Op&);
// A parameter value in Lua syntax: positions count from 1, choices are quoted.
std::string print_value(const ParamSpec&, const Value&);

}  // namespace lunagrad
