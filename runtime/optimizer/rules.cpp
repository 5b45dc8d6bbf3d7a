#include "runtime/optimizer/rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace lunagrad {
namespace {

using std::pow;
using std::sqrt;

using Kind = RuleNumber::Kind;

// The lists of a record, with an empty item at the end so that none is of size 0.
#define NUMBER(name, sample) {#name, Kind::number, sample},
#define COUNT(name, sample) {#name, Kind::count, sample},
#define FLAG(name) {#name, Kind::flag, 0},
#define STATE(name) {#name, false},
#define STATE_IF(condition, name) {#name, true},
#define OPTIMIZER(name, doc, states, numbers, derived, ...)            \
  constexpr RuleState name##_states[] = {states{nullptr, false}};      \
  constexpr RuleNumber name##_numbers[] = {numbers{nullptr, {}, 0}};   \
  static_assert(std::size(name##_states) <= size_t(kMostStates) + 1 && \
                std::size(name##_numbers) <= std::tuple_size_v<Arguments> + 1);
#include "runtime/optimizer/optimizers.def"

#define OPTIMIZER(name, doc, states, numbers, derived, ...) \
  {#name,                                                   \
   "_" #name "_step",                                       \
   doc,                                                     \
   {name##_states, std::size(name##_states) - 1},           \
   {name##_numbers, std::size(name##_numbers) - 1}},
constexpr RuleTraits kTraits[] = {
#include "runtime/optimizer/optimizers.def"
};

// Numbers and derived values fit into RuleUse::numbers.
#define NUMBER(name, sample) +1
#define COUNT(name, sample) +1
#define FLAG(name) +1
#define DERIVED(name, expression) +1
#define OPTIMIZER(name, doc, states, numbers, derived, ...) \
  static_assert(0 numbers derived <= kMostRuleNumbers);
#include "runtime/optimizer/optimizers.def"

// Numbers are read from the call's arguments in order.
struct ArgumentReader {
  const Argument* at;
  double next() { return (at++)->f; }
};

#define NUMBER(name, sample) [[maybe_unused]] const double name = reader.next();
#define COUNT(name, sample) NUMBER(name, sample)
#define FLAG(name) [[maybe_unused]] const bool name = reader.next() != 0;
#define STATE(name) found |= 1u << count++;
#define STATE_IF(condition, name) found |= uint32_t(condition) << count++;
#define OPTIMIZER(name, doc, states, numbers, derived, ...)           \
  uint32_t states_of_##name([[maybe_unused]] ArgumentReader reader) { \
    [[maybe_unused]] int count = 0;                                   \
    uint32_t found = 0;                                               \
    numbers states return found;                                      \
  }
#include "runtime/optimizer/optimizers.def"

// The call's numbers come first, then the derived values.
#define NUMBER(name, sample) [[maybe_unused]] const double name = *to++ = reader.next();
#define COUNT(name, sample) NUMBER(name, sample)
#define FLAG(name) [[maybe_unused]] const bool name = (*to++ = reader.next()) != 0;
#define DERIVED(name, expression) [[maybe_unused]] const double name = *to++ = expression;
#define OPTIMIZER(name, doc, states, numbers, derived, ...)                                     \
  void numbers_of_##name([[maybe_unused]] ArgumentReader reader, [[maybe_unused]] double* to) { \
    numbers derived                                                                             \
  }
#include "runtime/optimizer/optimizers.def"

struct RuleFunctions {
  uint32_t (*states)(ArgumentReader);
  void (*numbers)(ArgumentReader, double* to);
};
#define OPTIMIZER(name, doc, states, numbers, derived, ...) {states_of_##name, numbers_of_##name},
constexpr RuleFunctions kFunctions[] = {
#include "runtime/optimizer/optimizers.def"
};

std::string names_of(const RuleTraits& traits) {
  std::string names;
  for (const RuleNumber& number : traits.numbers)
    names += (names.empty() ? "" : ", ") + std::string(number.name);
  return names;
}

}  // namespace

const RuleTraits& rule_traits(Rule rule) { return kTraits[size_t(rule)]; }

uint32_t rule_states(Rule rule, const Arguments& arguments) {
  return kFunctions[size_t(rule)].states({arguments.data()});
}

RuleUse use_rule(Rule rule, const Arguments& arguments) {
  RuleUse use{rule, rule_states(rule, arguments), {}};
  kFunctions[size_t(rule)].numbers({arguments.data()}, use.numbers.data());
  return use;
}

Arguments rule_arguments(Rule rule, std::span<const NamedNumber> given) {
  const RuleTraits& traits = rule_traits(rule);
  Arguments arguments{};
  uint32_t found = 0;
  for (const NamedNumber& item : given) {
    const auto number = std::find_if(traits.numbers.begin(), traits.numbers.end(),
                                     [&](const RuleNumber& known) { return item.name == known.name; });
    if (number == traits.numbers.end())
      fail(traits.op_name, ": there is no number '", item.name, "'; its numbers are ", names_of(traits));
    const size_t i = size_t(number - traits.numbers.begin());
    set_number(rule, i, item.value, arguments);
    found |= 1u << i;
  }
  for (size_t i = 0; i < traits.numbers.size(); ++i)
    if (!(found >> i & 1)) fail(traits.op_name, ": the number '", traits.numbers[i].name, "' is missing");
  return arguments;
}

void set_number(Rule rule, size_t i, double value, Arguments& arguments) {
  const RuleNumber& number = rule_traits(rule).numbers[i];
  if (number.kind == Kind::count && !(value >= 1))
    fail(rule_traits(rule).op_name, ": ", number.name, "s count from 1 (got ", value, ")");
  arguments[i].f = value;
}

Arguments sample_arguments(Rule rule) {
  Arguments arguments{};
  const auto numbers = rule_traits(rule).numbers;
  for (size_t i = 0; i < numbers.size(); ++i) arguments[i].f = numbers[i].sample;
  return arguments;
}

}  // namespace lunagrad
