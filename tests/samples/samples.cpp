#include "tests/samples/samples.h"

namespace lunagrad::tests {

extern const SampleFamily kView, kCreate, kReduce, kMatmul, kIndex, kConv, kPool, kResize, kNorm, kAttention,
    kLoss, kRnn, kComplex;

Values complete(const Op& op, const Values& given) {
  Values values = given;
  while (values.size() < op.params.size()) values.push_back(Value());
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i].present()) values[i] = op.params[i].fallback;
  return values;
}

std::vector<double> numbers_of(const Tensor& x) {
  if (!is_complex(x.dtype())) return x.to_vector<double>();
  std::vector<double> parts;
  for (const std::complex<double>& z : x.to_vector<std::complex<double>>())
    parts.insert(parts.end(), {z.real(), z.imag()});
  return parts;
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
  for (const Op* op : all_ops()) {
    if (op->hidden()) continue;
    for (const OpExample& example : examples_of(*op))
      if (!example.error)
        rows.push_back({op->name, example.inputs, example.params, example.tolerance, example.second_order});
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
