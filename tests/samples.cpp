#include "tests/samples.h"

#include "runtime/ops/elementwise.h"

namespace lunagrad::tests {
namespace {

SampleInput real(const Shape& shape, double low = -2, double high = 2) {
  return {shape, low, high, Kind::real};
}
SampleInput boolean(const Shape& shape) { return {shape, 0, 1, Kind::boolean}; }

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

std::vector<Sample> samples() {
  std::vector<Sample> rows = {
      // views
      {"view", {real({2, 6})}, {Shape{2, 2, -1}}},
      {"reshape", {real({2, 6})}, {Shape{4, 3}}},
      {"flatten", {real({2, 3, 2})}, {1, 2}},
      {"squeeze", {real({2, 1, 3})}, {1}},
      {"squeeze", {real({2, 1, 3, 1})}},
      {"unsqueeze", {real({2, 3})}, {1}},
      {"transpose", {real({2, 3, 2})}, {0, 2}},
      {"t", {real({2, 3})}},
      {"permute", {real({2, 3, 4})}, {Dims{2, 0, 1}}},
      {"expand", {real({2, 1})}, {Shape{3, -1, 4}}},
      {"slice", {real({2, 5})}, {1, 1, 2, 2}},
      {"narrow", {real({4, 2})}, {0, 1, 2}},
      {"select", {real({3, 4})}, {1, -1}},
      // copies and joins
      {"clone", {real({2, 3})}},
      {"contiguous", {real({2, 3})}},
      {"cat", {real({2, 3}), real({2, 1}), real({2, 2})}, {1}},
      {"stack", {real({2, 3}), real({2, 3})}, {1}},
      // products
      {"matmul", {real({3, 4}), real({4, 2})}},
      {"matmul", {real({4}), real({4})}},
      {"matmul", {real({4}), real({2, 4, 3})}},
      {"matmul", {real({2, 3, 4}), real({4})}},
      {"matmul", {real({2, 3, 4}), real({4, 2})}},
      {"matmul", {real({2, 1, 3, 4}), real({3, 4, 2})}},
      {"mm", {real({3, 4}), real({4, 2})}},
      {"bmm", {real({2, 3, 4}), real({2, 4, 2})}},
      {"mv", {real({3, 4}), real({4})}},
      {"dot", {real({4}), real({4})}},
      {"addmm", {real({2}), real({3, 4}), real({4, 2})}, {0.5, 2.0}},
      {"linear", {real({3, 4}), real({2, 4}), real({2})}},
      {"linear", {real({2, 3, 4}), real({2, 4}), {{}, 0, 0, Kind::absent}}},
      {"linear", {real({4}), real({2, 4}), real({2})}},
  };
  add_elementwise(rows);
  return rows;
}

std::vector<BadSample> bad_samples() {
  return {
      {"add", {real({2, 3}), real({4})}, {}, "add: shapes [2, 3] and [4] do not broadcast"},
      {"view", {real({2, 3})}, {Shape{4}}, "view: shape [4] has 4 elements, the tensor 6"},
      {"reshape", {real({2, 3})}, {Shape{-1, -1}}, "more than one -1"},
      {"transpose", {real({2, 3})}, {0, 2}, "transpose: dim 3 is out of range for shape [2, 3]"},
      {"permute", {real({2, 3})}, {Dims{0, 0}}, "permute: dim 1 appears more than once"},
      {"expand", {real({2, 3})}, {Shape{2, 4}}, "expand: shape [2, 3] cannot be expanded to [2, 4]"},
      {"narrow", {real({4})}, {0, 3, 2}, "narrow: positions 4 to 5 of dim 1 are out of range for shape [4]"},
      {"select", {real({4})}, {0, 4}, "select: position 5 is out of range for dim 1 of shape [4]"},
      {"unsqueeze", {real({4})}, {3}, "unsqueeze: dim 4 is out of range"},
      {"cat",
       {real({2, 3}), real({3, 2})},
       {0},
       "cat: shapes [2, 3] and [3, 2] (tensor 2) differ in more than dim 1"},
      {"stack", {real({2}), real({3})}, {0}, "stack: shapes [2] and [3] differ"},
      {"matmul",
       {real({2, 3}), real({4, 5})},
       {},
       "matmul: shapes [2, 3] and [4, 5] do not fit: the last dim of the"},
      {"matmul",
       {real({}), real({2})},
       {},
       "matmul: both operands need at least 1 dim (got shapes [] and [2])"},
      {"matmul", {real({2, 3}), {{3}, 0, 9, Kind::index}}, {}, "matmul: operands have types f64 and i64"},
      {"matmul", {real({2, 1, 2}), real({3, 2, 1})}, {}, "matmul: shapes [2] and [3] do not broadcast"},
      {"mm", {real({2}), real({2, 2})}, {}, "mm: input must have 2 dims (got shape [2])"},
      {"bmm", {real({2, 1, 1}), real({3, 1, 1})}, {}, "bmm: batches differ: 2 and 3"},
      {"linear",
       {real({2, 3}), real({4, 5})},
       {},
       "linear: input of shape [2, 3] does not fit weight of shape [4, 5]"},
      {"linear",
       {real({2, 3}), real({4, 3}), real({3})},
       {},
       "linear: bias has shape [3] where weight of shape [4, 3]"},
  };
}

}  // namespace lunagrad::tests
