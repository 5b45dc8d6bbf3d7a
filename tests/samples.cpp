#include "tests/samples.h"

#include <cmath>

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
      // creation
      {"full", {}, {Shape{2, 3}, 1.5}},
      {"zeros", {}, {Shape{2, 3}}},
      {"ones", {}, {Shape{2, 3}}},
      {"empty", {}, {Shape{0, 3}}},
      {"zeros_like", {real({2, 3})}},
      {"ones_like", {real({2, 3})}},
      {"full_like", {real({2, 3})}, {2.5}},
      {"arange", {}, {0, 7, 2}},
      {"linspace", {}, {-1.0, 1.0, 5}},
      {"eye", {}, {2, 3}},
      {"tril", {real({2, 3, 4})}, {1}},
      {"triu", {real({3, 3})}, {-1}},
      {"rand", {}, {Shape{2, 3}}},
      {"randn", {}, {Shape{2, 3}}},
      {"randint", {}, {0, 10, Shape{2, 3}}},
      {"randperm", {}, {7}},
      {"rand_like", {real({2, 3})}, {DType::f32}},
      {"randn_like", {real({2, 3})}, {DType::f32}},
      {"bernoulli", {real({2, 3}, 0, 1)}},
      {"dropout", {real({4, 5})}, {0.4, true}},
      {"dropout", {real({4, 5})}, {0.4, false}},
      // reductions
      {"sum", {real({2, 3, 4})}},
      {"sum", {real({2, 3, 4})}, {Dims{0, 2}, true}},
      {"mean", {real({2, 3, 4})}},
      {"mean", {real({2, 3, 4})}, {Dims{1}}},
      {"prod", {real({2, 5})}, {Dims{1}}},
      {"prod", {real({2, 3})}, {{}, true}},
      {"var", {real({2, 3, 4})}},
      {"var", {real({2, 3, 4})}, {Dims{0, 2}, {}, true, 0}},
      {"std", {real({2, 6})}, {Dims{1}}},
      {"amax", {real({2, 3, 4})}, {Dims{0, 2}}},
      {"amin", {real({2, 3, 4})}, {Dims{1}, true}},
      {"max", {real({2, 6})}},
      {"max", {real({2, 6})}, {1}},
      {"max", {real({4, 3})}, {0, true}},
      {"min", {real({2, 6})}},
      {"min", {real({2, 6})}, {-1, true}},
      {"argmax", {real({2, 6})}},
      {"argmax", {real({2, 6})}, {1}},
      {"argmin", {real({4, 3})}, {0, true}},
      {"norm", {real({2, 6})}},
      {"norm", {real({2, 6})}, {1.0, Dims{1}}},
      {"norm", {real({2, 6})}, {3.0, Dims{0}, true}},
      {"norm", {real({2, 6})}, {INFINITY, Dims{1}}},
      {"norm", {real({2, 6})}, {0.0}},
      {"logsumexp", {real({2, 3, 4})}, {Dims{1, 2}}},
      {"all", {boolean({2, 6})}, {Dims{1}}},
      {"any", {boolean({2, 6})}, {Dims{0}, true}},
      // The gradient of sum(softmax(x)) is 0: what f32 leaves of it is rounding alone.
      {"softmax", {real({2, 5})}, {1}, 1e-4},
      {"softmax", {real({2, 5, 3})}, {1}, 1e-4},
      {"log_softmax", {real({2, 5})}, {-1}},
      {"log_softmax", {real({4, 2})}, {0}},
      {"cumsum", {real({2, 5})}, {1}},
      {"cumsum", {real({2, 5, 3})}, {1, true}},
      {"sort", {real({2, 7})}},
      {"sort", {real({6, 2})}, {0, true}},
      {"argsort", {real({2, 7})}, {1, true}},
      {"topk", {real({2, 7})}, {3}},
      {"topk", {real({7, 2})}, {3, 0, false}},
      {"median", {real({2, 4})}},
      {"median", {real({2, 5})}, {1, true}},
      // indexing
      {"index_select", {real({2, 5}), {{4}, 0, 5, Kind::index}}, {1}},
      {"index_add", {real({3, 2}), {{4}, 0, 3, Kind::index}, real({4, 2})}, {0, 0.5}},
      {"gather", {real({3, 4}), {{2, 6}, 0, 4, Kind::index}}, {1}},
      {"scatter_add", {real({3, 4}), {{3, 6}, 0, 4, Kind::index}, real({3, 7})}, {1}},
      {"embedding", {{{2, 3}, 0, 5, Kind::index}, real({5, 4})}},
      {"masked_fill", {real({2, 3}), boolean({3})}, {0.5}},
      {"masked_select", {real({2, 3}), boolean({2, 3})}},
      {"nonzero", {boolean({3, 4})}},
      {"one_hot", {{{2, 3}, 0, 4, Kind::index}}, {4}},
      // losses; reduction 0 is none, 1 mean, 2 sum
      {"mse_loss", {real({2, 3}), real({2, 3})}},
      {"mse_loss", {real({2, 3}), real({2, 3})}, {0}},
      {"l1_loss", {real({2, 3}), real({2, 3})}},
      {"huber_loss", {real({2, 3}), real({2, 3})}, {2, 0.7}},
      {"smooth_l1_loss", {real({2, 3}), real({2, 3})}, {1, 0.7}},
      {"binary_cross_entropy", {real({2, 3}, 0.1, 0.9), real({2, 3}, 0, 1), real({3})}},
      {"binary_cross_entropy_with_logits", {real({2, 3}), real({2, 3}, 0, 1)}},
      {"binary_cross_entropy_with_logits",
       {real({2, 3}), real({2, 3}, 0, 1), real({3}), real({3}, 0.5, 2)},
       {2}},
      {"nll_loss", {real({4, 5}), {{4}, 0, 5, Kind::index}, real({5}, 0.5, 2)}},
      {"nll_loss", {real({4, 5, 2}), {{4, 2}, 0, 5, Kind::index}}, {1, 0}},
      {"kl_div", {real({2, 3}), real({2, 3}, 0.1, 1)}},
      {"kl_div", {real({2, 3}), real({2, 3})}, {3, true}},
      {"cross_entropy", {real({4, 5}), {{4}, 0, 5, Kind::index}}},
      {"cross_entropy", {real({5}), {{}, 0, 5, Kind::index}}},
      {"cross_entropy", {real({4, 5, 3}), {{4, 3}, 0, 5, Kind::index}}, {2, 0, 0.1}},
      {"cross_entropy", {real({4, 5}), real({4, 5}, 0, 1)}, {{}, 1, 0.2}},
  };
  const SampleInput absent{{}, 0, 0, Kind::absent};
  const std::vector<Sample> layers = {
      {"max_pool2d", {real({2, 3, 6, 5})}, {Dims{2}}},
      {"max_pool2d", {real({2, 7, 7})}, {Dims{3, 2}, Dims{2, 1}, Dims{1}, Dims{1, 2}, true}},
      {"layer_norm", {real({3, 5}), real({5}), real({5})}, {Shape{5}}},
      {"conv2d", {real({2, 3, 5, 6}), real({4, 3, 3, 2}), real({4})}},
      {"conv2d", {real({2, 2, 7, 6}), real({3, 2, 3, 3}), absent}, {Dims{2, 3}, Dims{2, 1}, Dims{1, 2}}},
      {"conv2d", {real({2, 4, 4, 4}), real({6, 2, 2, 2}), real({6})}, {Dims{1}, Dims{1}, Dims{1}, 2}},
      {"conv2d", {real({3, 5, 5}), real({2, 3, 1, 1}), real({2})}},
      {"conv2d", {real({1, 2, 6, 6}), real({2, 2, 2, 2}), absent}, {Dims{2}}},
      {"layer_norm", {real({2, 3, 4}), real({3, 4}), absent}, {Shape{3, 4}, 0.1}},
      // Without a weight the gradient of the sum is 0, and what is left is rounding: 1e-7 beside a scale of
      // 1e-3.
      {"layer_norm", {real({4, 19}), absent, absent}, {Shape{19}}, 1e-4},
  };
  rows.insert(rows.end(), layers.begin(), layers.end());
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
      {"conv2d",
       {real({2, 3}), real({1, 3, 1, 1}), {{}, 0, 0, Kind::absent}},
       {},
       "conv2d: input must be [N, C, H, W] or [C, H, W] (got shape [2, 3])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 2, 1, 1}), {{}, 0, 0, Kind::absent}},
       {},
       "conv2d: weight of shape [1, 2, 1, 1] with groups = 1 needs 2 input channels (got input of shape [2, "
       "3, 4, 4])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 3, 5, 1}), {{}, 0, 0, Kind::absent}},
       {},
       "does not fit into the padded input: dim 3 has 4 elements, the kernel reaches over 5"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 3, 1, 1}), {{}, 0, 0, Kind::absent}},
       {Dims{0}},
       "conv2d: stride must be at least 1 (got [0])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({2, 1, 1, 1}), {{}, 0, 0, Kind::absent}},
       {Dims{1}, Dims{0}, Dims{1}, 2},
       "conv2d: groups = 2 must divide the 3 input and 2 output channels"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({2, 3, 1, 1}), real({3})},
       {},
       "conv2d: bias has shape [3] where 2 output channels need [2]"},
      {"max_pool2d",
       {real({2, 4, 4})},
       {Dims{2}, Dims{2}, Dims{2}},
       "max_pool2d: padding may be at most half of kernel_size (got padding 2, kernel_size 2)"},
      {"max_pool2d",
       {real({2, 4, 4})},
       {Dims{5}},
       "max_pool2d: no window fits into the input of shape [2, 4, 4]: dim 2 has 4 elements with padding"},
      {"max_pool2d",
       {real({4, 4})},
       {Dims{2}},
       "max_pool2d: input must be [N, C, H, W] or [C, H, W] (got shape [4, 4])"},
      {"layer_norm",
       {real({2, 3}), {{}, 0, 0, Kind::absent}, {{}, 0, 0, Kind::absent}},
       {Shape{2}},
       "layer_norm: normalized_shape [2] is not what the shape of the input, [2, 3], ends with"},
      {"layer_norm",
       {real({2, 3}), real({2}), real({3})},
       {Shape{3}},
       "layer_norm: weight has shape [2] where normalized_shape is [3]"},
      {"sum", {real({2, 3})}, {Dims{2}}, "sum: dim 3 is out of range for shape [2, 3]"},
      {"sum", {real({2, 3})}, {Dims{0, 0}}, "sum: dim 1 appears more than once"},
      {"mean", {{{3}, 0, 9, Kind::index}}, {}, "mean: a floating-point tensor is needed (got i64)"},
      {"max", {real({0, 3})}, {}, "max: cannot reduce an empty tensor without an identity"},
      {"argmax", {real({2, 0})}, {1}, "argmax: cannot reduce an empty tensor without an identity"},
      {"softmax", {real({2, 3})}, {2}, "softmax: dim 3 is out of range for shape [2, 3]"},
      {"softmax", {{{3}, 0, 9, Kind::index}}, {0}, "softmax: a floating-point tensor is needed (got i64)"},
      {"dropout", {real({3})}, {1.5}, "dropout: p must lie in [0, 1] (got 1.5)"},
      {"arange", {}, {0, 5, -1}, "arange: a step of -1 does not lead from 0 to 5"},
      {"arange", {}, {0, 5, 0}, "arange: the step must not be 0"},
      {"randint", {}, {3, 3, Shape{2}}, "randint: low must be below high (got 3 and 3)"},
      {"zeros", {}, {Shape{2, -1}}, "a size must not be negative"},
      {"index_select",
       {real({2, 3}), {{2}, 3, 4, Kind::index}},
       {1},
       "index_select: index 3 at position 1 is out of range for dim 2 of size 3 (indices count from 0)"},
      {"index_select",
       {real({2, 3}), real({2})},
       {1},
       "index_select: indices must be i64, i32 or u8 (got f64)"},
      {"gather",
       {real({2, 3}), {{2, 1}, -1, 0, Kind::index}},
       {1},
       "gather: index -1 at position 1 is out of range for dim 2 of size 3"},
      {"gather",
       {real({2, 3}), {{3, 1}, 0, 2, Kind::index}},
       {1},
       "gather: an index of shape [3, 1] does not fit a tensor of shape [2, 3] along dim 2"},
      {"embedding",
       {{{2}, 5, 6, Kind::index}, real({5, 4})},
       {},
       "embedding: index 5 at position 1 is out of range for dim 1 of size 5"},
      {"masked_fill",
       {real({2, 3}), boolean({2})},
       {0.5},
       "masked_fill: a mask of shape [2] does not broadcast"},
      {"masked_fill", {real({3}), real({3})}, {0.5}, "masked_fill: the mask must be bool (got f64)"},
      {"one_hot", {{{2}, 4, 5, Kind::index}}, {3}, "one_hot: index 4 at position 1 is out of range"},
      {"topk", {real({2, 3})}, {4}, "topk: k must lie in 0 to 3, the size of dim 2 (got 4)"},
      {"nll_loss",
       {real({2, 3}), {{2}, 3, 4, Kind::index}},
       {},
       "nll_loss: label 3 at position 1 is out of range for 3 classes (labels count from 0)"},
      {"mse_loss",
       {real({4, 1}), real({4})},
       {},
       "mse_loss: input has shape [4, 1] and target [4]; they must be the same"},
      {"cross_entropy",
       {real({2, 3}), {{2}, 3, 4, Kind::index}},
       {},
       "cross_entropy: label 3 at position 1 is out of range for 3 classes (labels count from 0)"},
      {"cross_entropy",
       {real({2, 3}), {{3}, 0, 3, Kind::index}},
       {},
       "cross_entropy: an input of shape [2, 3] needs class ids of shape [2] or probabilities of shape [2, "
       "3] (got "
       "i64 of shape [3])"},
      {"cross_entropy",
       {real({2, 3}), {{2}, 0, 3, Kind::index}, real({2})},
       {},
       "cross_entropy: the weight must have shape [3] (got [2])"},
  };
}

}  // namespace lunagrad::tests
