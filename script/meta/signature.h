#pragma once
// How an op is called from a script: its operands and parameters in PyTorch's order. Derived from the record;
// the bindings, the meta files and the tape all read it. Built once per process.
#include <string>
#include <vector>

#include "runtime/op.h"

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
  const Op* full;  // what runs when more than plain operands are given: op, or its long form (arithmetic.cpp)
  std::vector<Slot> slots;
  bool only_inputs;   // no parameters, no lists, no optional operands: the plain case
  uint32_t numbers;   // bit i: a script's number may stand for input i
  bool creates;       // makes a tensor from nothing: takes the options device and requires_grad, too
  std::string names;  // "input, dim, keepdim", for errors

  const Slot* find(std::string_view name) const;
  // Whether the list at slot i may be written as plain integers: nothing behind it takes a number.
  bool spreads(size_t slot) const;
};

// For all visible and hidden ops, in their order.
const std::vector<Signature>& signatures();
const Signature* find_signature(std::string_view op);

// Whether there is an in-place form `name_`.
bool has_in_place_form(const Op&);
// A parameter as a script would write it: positions from 1, choices quoted.
std::string print_value(const ParamSpec&, const Value&);

}  // namespace lunagrad
