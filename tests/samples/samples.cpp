#include "tests/samples/samples.h"

#include <cmath>

#include "runtime/elementwise/elementwise.h"

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
