#include "tests/samples/samples.h"

#include <cmath>

#include "runtime/core/random.h"
#include "runtime/core/trace.h"
#include "runtime/ops.h"

namespace lunagrad::tests {

extern const SampleFamily kView, kCreate, kReduce, kMatmul, kIndex, kConv, kPool, kResize, kNorm, kAttention,
    kLoss, kRnn, kComplex;

Value equation(const char* text) { return int64_t(intern(text)); }

Values complete(const Op& op, const Values& given) {
  Values values = given;
  while (values.size() < op.params.size()) values.push_back(Value());
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i].present()) values[i] = op.params[i].fallback;
  return values;
}

std::string name_of(const Sample& sample) {
  std::string name = sample.op + "(";
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    if (i > 0) name += ", ";
    name += sample.inputs[i].kind == Kind::absent ? std::string("-") : text(sample.inputs[i].shape);
  }
  return name + ")";
}

Tensor weighted_loss(const Sample& sample, const Operands& outputs) {
  uint64_t seed = 14695981039346656037u;  // FNV-1a
  for (const char letter : name_of(sample)) seed = (seed ^ uint8_t(letter)) * 1099511628211u;
  Tensor loss;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    const Tensor y = is_complex(outputs[i].dtype()) ? view_as_real(outputs[i]) : outputs[i];
    std::vector<float> weights(size_t(y.numel()));
    for (size_t e = 0; e < weights.size(); ++e) {
      const PhiloxBlock words = philox(seed, i, e);
      weights[e] = float((words[2] & 1 ? 1 : -1) * (0.5 + uniform_f64(words[0], words[1])));
    }
    const Tensor part = sum(y * to(to(Tensor::from<float>(weights, y.shape()), y.dtype()), y.device()));
    loss = loss.defined() ? loss + part : part;
  }
  return loss;
}

namespace {

constexpr const SampleFamily* kFamilies[] = {&kView, &kCreate, &kReduce, &kMatmul, &kIndex,
                                             &kConv, &kPool,   &kResize, &kNorm,   &kAttention,
                                             &kLoss, &kRnn,    &kComplex};

}  // namespace

Tensor make_input(const SampleInput& spec, uint64_t stream) {
  if (spec.kind == Kind::absent) return {};
  const auto count = size_t(numel(spec.shape)) * (spec.kind == Kind::complex ? 2 : 1);
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const PhiloxBlock words = philox(2024, stream, i);
    values[i] = spec.low + (spec.high - spec.low) * uniform_f64(words[0], words[1]);
    if (spec.kind == Kind::index) values[i] = std::floor(values[i]);
    if (spec.kind == Kind::boolean) values[i] = words[2] & 1;
  }
  const NoGrad off;
  if (spec.kind == Kind::complex)
    return Tensor::from_bytes(values.data(), count * sizeof(double), spec.shape, DType::c128);
  const Tensor reals = Tensor::from<double>(values, spec.shape);
  if (spec.kind == Kind::index) return to(reals, DType::i64);
  if (spec.kind == Kind::boolean) return to(reals, DType::boolean);
  return reals;
}

std::vector<Sample> samples() {
  std::vector<Sample> rows;
  for (const SampleFamily* family : kFamilies) {
    const std::vector<Sample> more = family->samples();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (const Op* op : all_ops()) {
    if (op->hidden()) continue;
    for (const OpExample& example : examples_of(*op))
      if (!example.error) {
        rows.push_back({.op = op->name,
                        .inputs = example.inputs,
                        .params = example.params,
                        .second_order = example.second_order,
                        .types = example.types});
        // Only the second operand of zeta has a gradient.
        if (rows.back().op == "zeta") rows.back().inputs[0] = index(rows.back().inputs[0].shape, 2, 5);
      }
  }
  return rows;
}

std::vector<BadSample> bad_samples() {
  std::vector<BadSample> rows;
  for (const SampleFamily* family : kFamilies) {
    const std::vector<BadSample> more = family->bad_samples();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (const Op* op : all_ops())
    for (const OpExample& example : op->examples)
      if (example.error) rows.push_back({op->name, example.inputs, example.params, example.error});
  return rows;
}

}  // namespace lunagrad::tests
