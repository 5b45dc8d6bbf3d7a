#pragma once
// The arithmetic of the optimizers on one stretch of a parameter, its gradient and its state, compiled for
// each SIMD target. Pure loops: they neither allocate nor throw, and any thread may run them.
#include <cstdint>

#include "runtime/optimizer/rule_list.h"

namespace lunagrad {

// One step. arrays: the parameter, the gradient, then an entry for each state of the rule; only the states in
// use.states are read. All arrays but the gradient are written. T: float, double, Half, BFloat16 (16-bit
// values are computed as float).
template <class T>
void step_stretch(const RuleUse& use, int64_t count, T* const* arrays);

// Multiplies by a number, and sums |x|^p (p = 2 with SIMD).
template <class T>
void scale_stretch(int64_t count, T* x, double factor);
template <class T>
double power_sum(int64_t count, const T* x, double p);
template <class T>
double largest_magnitude(int64_t count, const T* x);  // NaN if an element is NaN

}  // namespace lunagrad
