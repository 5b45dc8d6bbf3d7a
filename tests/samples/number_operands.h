#pragma once
// Samples with a number in place of one operand, for every operand that takes numbers and every op.
#include "runtime/tape/gradcheck.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {

struct NumberCall {
  const Op* op = nullptr;
  Sample sample;
  size_t position = 0;  // of the number
  double number = 0;

  std::string name() const { return text(name_of(sample), " with ", number, " as operand ", position + 1); }
  // The other real operands in f64 on the CPU, and the function of them.
  TensorList operands() const {
    TensorList list;
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      if (i == position) continue;
      const SampleInput& spec = sample.inputs[i];
      std::vector<double> values(static_cast<size_t>(numel(spec.shape)));
      for (size_t e = 0; e < values.size(); ++e) {
        const PhiloxBlock words = philox(99, i, e);
        values[e] = spec.low + (spec.high - spec.low) * uniform_f64(words[0], words[1]);
      }
      list.push_back(Tensor::from<double>(values, spec.shape));
    }
    return list;
  }
  TensorList apply_to(const TensorList& others) const {
    Operands in;
    size_t next = 0;
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      in.push_back(i == position ? Tensor::number(number) : others[next++]);
    const Operands out = apply(*op, in, complete(*op, sample.params));
    return {out.begin(), out.end()};
  }
};

// Each number changes when it is rounded to f32, so that lost precision shows.
inline std::vector<NumberCall> number_calls() {
  std::vector<NumberCall> calls;
  for (const Sample& sample : samples()) {
    const Op* const op = find_op(sample.op);
    size_t reals = 0;
    for (const SampleInput& input : sample.inputs) reals += input.kind == Kind::real;
    if (reals != sample.inputs.size() || reals < 2 || op->random) continue;
    // Only one operand of zeta has a gradient; searchsorted has none.
    if (sample.op == "zeta" || sample.op == "searchsorted") continue;
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      if (op->number_inputs >> i & 1) {
        const SampleInput& spec = sample.inputs[i];
        calls.push_back({op, sample, i, spec.low + (spec.high - spec.low) * 0.7123456789012345});
      }
  }
  return calls;
}

}  // namespace lunagrad::tests
