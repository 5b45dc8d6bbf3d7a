#pragma once
// Runs rows of the op sample table on a device.
#include <set>
#include <string>

#include "tests/gpu/compare.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {

inline Tensor sample_input(const SampleInput& spec, uint64_t stream) {
  if (spec.kind == Kind::absent) return {};
  const NoGrad off;
  const Tensor reals = random(spec.shape, stream, spec.low, spec.high);
  if (spec.kind == Kind::index) return to(floor(reals), DType::i64);
  if (spec.kind == Kind::complex)
    return complex(reals, random(spec.shape, stream + 100, spec.low, spec.high));
  if (spec.kind == Kind::boolean) return gt(reals, Tensor::number((spec.low + spec.high) / 2));
  return reals;
}

// Only the CPU has c128.
inline bool asks_for_c128(const Op& op, const Sample& sample) {
  for (size_t i = 0; i < sample.params.size(); ++i)
    if (op.params[i].kind == ParamKind::dtype && sample.params[i] == Value(DType::c128)) return true;
  return false;
}

// The records that have no kernel for the device yet: they run on the CPU, as the trace reports.
inline const std::set<std::string> kOnTheCpu = {"_row_order",     "_linalg.lstsq",       "_linalg.ldl_solve",
                                                "geqrf",          "linalg.cholesky_ex",  "linalg.eig",
                                                "linalg.eigvals", "linalg.ldl_factor_ex"};

struct SampleResult {
  Operands outputs;
  TensorList gradients;
};

// The outputs, and the gradients of their weighted sum.
inline SampleResult run_sample(const Op& op, const Sample& sample, TensorList inputs) {
  for (Tensor& x : inputs)
    if (x.defined() && is_differentiable(x.dtype())) x = x.detach().requires_grad_();
  context().generator.seed(11);
  SampleResult result;
  result.outputs = apply(op, inputs, complete(op, sample.params));
  const Tensor loss = weighted_loss(sample, result.outputs);
  if (loss.defined()) backward(loss);
  for (const Tensor& x : inputs)
    if (loss.defined() && x.defined() && is_differentiable(x.dtype()))
      result.gradients.push_back(x.grad().defined() ? x.grad() : zeros_like(x));
  return result;
}

inline TensorList sample_inputs(const Sample& sample) {
  TensorList inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) inputs.push_back(sample_input(sample.inputs[i], i));
  return inputs;
}

}  // namespace lunagrad::tests
