#pragma once
// The rules of optimizers.def as an enumeration, with their states, and a rule with the numbers of a call:
// what a kernel needs to know. It includes no tensors, so that a change of a tensor compiles no kernel again.
// Constants.
#include <array>
#include <cstdint>

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

}  // namespace lunagrad
