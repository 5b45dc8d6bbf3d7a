#include "tests/samples/samples.h"

#include <cmath>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"

namespace lunagrad::tests {

extern const SampleFamily kView, kCreate, kReduce, kMatmul, kIndex, kConv, kPool, kResize, kNorm, kAttention,
    kLoss, kRnn, kComplex;
namespace {

// Each row of elementwise.def: all operands of one shape, and each broadcast against the others.
void add_elementwise(std::vector<Sample>& rows) {
  for (const Op* op : all_ops()) {
    if (op->elementwise < 0 || op->hidden()) continue;
    const RowTraits& traits = row_traits(op->elementwise);
    const auto operand = [&](const Shape& shape) { return real(shape, traits.lo, traits.hi); };
    const int arity = traits.arity;
    for (int broadcast = -1; broadcast < (arity > 1 ? arity : 0); ++broadcast) {
      Sample row{op->name, {}};
      for (int i = 0; i < arity; ++i) row.inputs.push_back(operand(i == broadcast ? Shape{3} : Shape{2, 3}));
      if (std::string_view(op->name) == "where") row.inputs[0] = boolean(row.inputs[0].shape);
      for (const ParamSpec& spec : op->params) {
        if (spec.fallback.present()) continue;
        row.params.resize(op->params.size());
        row.params[size_t(&spec - op->params.data())] = 0.5;
      }
      rows.push_back(row);
    }
  }
}

}  // namespace

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

std::vector<Sample> samples() {
  std::vector<Sample> rows;
  for (const SampleFamily* family : kFamilies) {
    const std::vector<Sample> more = family->samples();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  add_elementwise(rows);
  return rows;
}

std::vector<BadSample> bad_samples() {
  std::vector<BadSample> rows;
  for (const SampleFamily* family : kFamilies) {
    const std::vector<BadSample> more = family->bad_samples();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace lunagrad::tests
