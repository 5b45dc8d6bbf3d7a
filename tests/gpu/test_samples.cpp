// Every op sample on the Vulkan device against the CPU, with its gradient, in any layout.
#include "tests/gpu/compare.h"

#include <cstdio>
#include <set>

#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

Tensor sample_input(const SampleInput& spec, uint64_t stream) {
  if (spec.kind == Kind::absent) return {};
  const NoGrad off;
  const Tensor reals = random(spec.shape, stream, spec.low, spec.high);
  if (spec.kind == Kind::index) return to(floor(reals), DType::i64);
  if (spec.kind == Kind::complex) return complex(reals, random(spec.shape, stream + 100, spec.low, spec.high));
  if (spec.kind == Kind::boolean) return gt(reals, Tensor::number((spec.low + spec.high) / 2));
  return reals;
}

// c128 is the CPU's alone.
bool asks_for_c128(const Op& op, const Sample& sample) {
  for (size_t i = 0; i < sample.params.size(); ++i)
    if (op.params[i].kind == ParamKind::dtype && sample.params[i] == Value(DType::c128)) return true;
  return false;
}

struct Result {
  Operands outputs;
  TensorList gradients;
};

// Outputs and the gradients of a weighted sum of their squares: the plain sum is a constant of what normalises.
Result run_sample(const Op& op, const Sample& sample, TensorList inputs) {
  for (Tensor& x : inputs)
    if (x.defined() && is_differentiable(x.dtype())) x = x.detach().requires_grad_();
  context().generator.seed(11);
  Result result;
  result.outputs = apply(op, inputs, complete(op, sample.params));
  Tensor loss;
  for (const Tensor& y : result.outputs) {
    if (!y.requires_grad()) continue;
    const Tensor part = sum(norm_sq(y) * to(random(y.shape(), 50, 0.5, 1.5), y.device()));
    loss = loss.defined() ? loss + part : part;
  }
  if (loss.defined()) backward(loss);
  for (const Tensor& x : inputs)
    if (loss.defined() && x.defined() && is_differentiable(x.dtype()))
      result.gradients.push_back(x.grad().defined() ? x.grad() : zeros_like(x));
  return result;
}

TEST_CASE("every op sample gives on the device what it gives on the CPU, in any layout, with its gradient") {
  std::map<std::string, std::set<std::string>> missing;  // op -> kernels it lacked
  int rows = 0;
  for (const Sample& sample : samples()) {
    const Op* op = find_op(sample.op);
    REQUIRE(op);
    TensorList inputs;
    for (size_t i = 0; i < sample.inputs.size(); ++i) inputs.push_back(sample_input(sample.inputs[i], i));
    const Result expected = run_sample(*op, sample, inputs);
    if (inputs.empty() || asks_for_c128(*op, sample)) continue;  // creation: below
    ++rows;
    for (const Arrangement arrangement :
         {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
      if (sample.contiguous && arrangement != Arrangement::contiguous) continue;
      TensorList there;
      for (const Tensor& x : inputs) there.push_back(arrange(x, arrangement));
      Fallbacks fallbacks;
      const Result got = run_sample(*op, sample, there);
      for (const auto& [name, count] : fallbacks.ops) missing[sample.op].insert(name);
      for (size_t i = 0; i < got.outputs.size(); ++i)
        CHECK_MESSAGE(distance(got.outputs[i], expected.outputs[i]) <= sample.tolerance,
                      sample.op << " on the device, layout " << int(arrangement));
      for (size_t i = 0; i < got.gradients.size(); ++i)
        CHECK_MESSAGE(distance(got.gradients[i], expected.gradients[i]) <= 2 * sample.tolerance,
                      sample.op << ": gradient " << i << " on the device, layout " << int(arrangement));
    }
  }
  std::printf("%d samples; through the CPU, for lack of a kernel:\n", rows);
  std::set<std::string> lacking;
  for (const auto& [op, kernels] : missing) {
    std::printf("  %-20s", op.c_str());
    for (const std::string& kernel : kernels) std::printf(" %s", kernel.c_str());
    std::printf("\n");
    lacking.insert(kernels.begin(), kernels.end());
  }
  // What the CPU does for the device: drawing by weights, and a loss of few steps.
  const std::set<std::string> known = {"_ctc_loss", "_ctc_loss_grad", "multinomial"};
  for (const std::string& kernel : lacking) CHECK_MESSAGE(known.contains(kernel), kernel << " must run on the device");
}

}  // namespace
}  // namespace lunagrad::tests
