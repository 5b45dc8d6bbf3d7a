#pragma once
// The rules of optimizers.def for the rest of the engine: their names, states and numbers, and the values
// that a call computes with. The op of a rule takes lists of equal length, one after the other: parameters,
// gradients, then each state that exists for the call's numbers. It writes all but the gradients in place.
// Numbers are Call::args, in the order of the record; callers pass them by name. Constant data and pure
// functions, any thread.
#include <span>
#include <string_view>

#include "runtime/core/op.h"
#include "runtime/optimizer/rule_list.h"

namespace lunagrad {

struct RuleState {
  const char* name;
  bool conditional;  // exists for some numbers only
};
struct RuleNumber {
  enum class Kind : uint8_t { number, count, flag };
  const char* name;
  Kind kind;
  double sample;  // for tests and benchmarks; 0 for flags
};
struct RuleTraits {
  const char* name;     // "adam"
  const char* op_name;  // "_adam_step"
  const char* doc;
  std::span<const RuleState> states;
  std::span<const RuleNumber> numbers;
};
const RuleTraits& rule_traits(Rule);

RuleUse use_rule(Rule, const Arguments&);
uint32_t rule_states(Rule, const Arguments&);  // only the states of use_rule()

struct NamedNumber {
  std::string_view name;
  double value;  // of a flag: 0 or 1
};
// The numbers in the order of the record. Error if one is missing, unknown or a count below 1.
Arguments rule_arguments(Rule, std::span<const NamedNumber>);
// Sets number i. Error for a count below 1.
void set_number(Rule, size_t i, double value, Arguments&);
// The samples; flags are false.
Arguments sample_arguments(Rule);

const Op& rule_op(Rule);
Rule rule_of(const Op&);  // Error for an op of no rule
// One step without recording; `tensors` are the lists that a rule's op takes.
void optimizer_step(Rule, Operands tensors, const Arguments&);

}  // namespace lunagrad
