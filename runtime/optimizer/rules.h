#pragma once
// The rules of optimizers.def for the rest of the engine: their names, states and numbers, and the values
// that a call computes with. The op of a rule takes lists of equal length, one after the other: parameters,
// gradients, then each state that exists for the call's numbers. It writes all but the gradients in place.
// Numbers are Call::args, in the order of the record; callers pass them by name. Constant data and pure
// functions, any thread.
#include <array>
#include <span>
#include <string_view>

#include "runtime/core/op.h"

namespace lunagrad {

enum class Rule : uint8_t {
#define OPTIMIZER(name, doc, states, numbers, derived, ...) name,
#include "runtime/optimizer/optimizers.def"
};
inline constexpr int kRuleCount = 0
#define OPTIMIZER(name, doc, states, numbers, derived, ...) +1
#include "runtime/optimizer/optimizers.def"
    ;

inline constexpr int kMostStates = 3;  // of a rule; gpu/ops/optimizer/optimizer.glsl has the same number
inline constexpr int kMostRuleNumbers = 14;  // numbers and derived values; what a GPU's push constants hold

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

// `always`: the states that exist for all numbers; `all`: these and the conditional ones. Bit k stands for
// state k.
struct StateMasks {
  uint32_t always = 0, all = 0;
};
inline constexpr StateMasks kStateMasks[] = {
#define STATE(name) masks.always |= 1u << count, masks.all |= 1u << count++;
#define STATE_IF(condition, name) masks.all |= 1u << count++;
#define OPTIMIZER(name, doc, states, numbers, derived, ...) \
  [] {                                                      \
    StateMasks masks;                                       \
    [[maybe_unused]] int count = 0;                         \
    states return masks;                                    \
  }(),
#include "runtime/optimizer/optimizers.def"
};

// A rule with the numbers of a call.
struct RuleUse {
  Rule rule;
  uint32_t states;                               // bit k: state k exists
  std::array<double, kMostRuleNumbers> numbers;  // the call's, then the derived values
};
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
