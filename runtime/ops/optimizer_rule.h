#pragma once
// What a call of an optimizer's op comes to, for the kernels of each device. Pure; any thread.
#include "runtime/cpu/optimizer.h"
#include "runtime/op.h"

namespace lunagrad {

struct RuleUse {
  Rule rule;
  RuleNumbers numbers;
};
// Of any op but the one that clips.
RuleUse rule_of(const Call&);

}  // namespace lunagrad
