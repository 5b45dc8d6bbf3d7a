#pragma once
// Batching rules: how an op runs on all samples of its batched operands at the same time. A rule gets the
// operands as values: batched ones are [N, ...], the others are unchanged. It appends the outputs, each
// [N, ...], or returns false if it does not cover the call; then the op is composed, or runs once for each
// sample. The tests compare each rule with a loop over the samples. Each family of rules has a file.
#include <span>

#include "runtime/ops.h"

namespace lunagrad {

struct BatchedCall {
  const Call& call;  // its operands are samples
  int64_t size;      // N
  Operands values;
  uint32_t batched = 0;  // bit i: values[i] is [N, ...]

  const Op& op() const { return *call.op; }
  bool has(int i) const { return call.has(i); }
  bool is(int i) const { return batched >> i & 1; }                  // whether operand i is batched
  const Shape& shape(int i) const { return call.input(i).shape(); }  // of a sample
  int ndim(int i) const { return shape(i).size(); }
  // Operand i as [N, ...]: repeated, without a copy, if it is not batched.
  Tensor spread(int i) const;
  // Runs the op on other operands and parameters.
  Operands run(Operands in, Values params) const;
  Operands run(Operands in) const { return run(std::move(in), call.params); }
};

using BatchRule = bool (*)(const BatchedCall&, Operands& out);
struct NamedRule {
  const char* op;
  BatchRule rule;
};

std::span<const NamedRule> plain_rules();    // ops that act on elements or trailing dims
std::span<const NamedRule> dim_rules();      // ops along dims that a parameter names
std::span<const NamedRule> view_rules();     // shapes
std::span<const NamedRule> product_rules();  // matrix products and convolutions
std::span<const NamedRule> image_rules();    // ops on [N, C, ...] that treat each image separately
std::span<const NamedRule> index_rules();    // gathers, scatters
std::span<const NamedRule> loss_rules();

// The rule of elementwise rows and their gradients: all operands broadcast.
bool elementwise_rule(const BatchedCall&, Operands& out);

// {N, ...}
inline Shape with_size(int64_t n, Shape shape) {
  shape.insert(0, n);
  return shape;
}

}  // namespace lunagrad
