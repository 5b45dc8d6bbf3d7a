#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> reduce_samples() {
  return {
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
      {"softmax", {real({2, 5})}, {1}},
      {"softmax", {real({2, 5, 3})}, {1}},
      {"log_softmax", {real({2, 5})}, {-1}},
      {"log_softmax", {real({4, 2})}, {0}},
      {"cumsum", {real({2, 5})}, {1}},
      {"cumsum", {real({2, 5, 3})}, {1, true}},
      {"cumsum", {real({2, 5})}, {1, false, DType::f64}},
      {"cumprod", {real({2, 5})}, {1}},
      {"cumprod", {real({5, 3})}, {0, DType::f64}},
      {"cumprod", {real({})}, {0}},
      {"vector_norm", {real({2, 6})}, {3.0, Dims{1}, true}},
      {"vector_norm", {real({2, 3, 2})}, {2.0, Dims{0, 2}, false, DType::f64}},
      {"sort", {real({2, 7})}},
      {"sort", {real({6, 2})}, {0, true}},
      {"argsort", {real({2, 7})}, {1, true}},
      {"topk", {real({2, 7})}, {3}},
      {"topk", {real({7, 2})}, {3, 0, false}},
      {"median", {real({2, 4})}},
      {"median", {real({2, 5})}, {1, true}},
  };
}

std::vector<BadSample> bad_reduce_samples() {
  return {
      {"add", {real({2, 3}), real({4})}, {}, "add: shapes [2, 3] and [4] do not broadcast"},
      {"sum", {real({2, 3})}, {Dims{2}}, "sum: dim 3 is out of range for shape [2, 3]"},
      {"sum", {real({2, 3})}, {Dims{0, 0}}, "sum: dim 1 appears more than once"},
      {"mean", {index({3}, 0, 9)}, {}, "mean: a floating-point tensor is needed (got i64)"},
      {"max", {real({0, 3})}, {}, "max: cannot reduce an empty tensor without an identity"},
      {"argmax", {real({2, 0})}, {1}, "argmax: cannot reduce an empty tensor without an identity"},
      {"softmax", {real({2, 3})}, {2}, "softmax: dim 3 is out of range for shape [2, 3]"},
      {"softmax", {index({3}, 0, 9)}, {0}, "softmax: a floating-point tensor is needed (got i64)"},
      {"cumprod", {real({2, 3})}, {2}, "cumprod: dim 3 is out of range for shape [2, 3]"},
      {"cumsum", {real({2, 3})}, {-3}, "cumsum: dim -3 is out of range for shape [2, 3]"},
      {"vector_norm", {index({3}, 0, 9)}, {}, "norm: a floating-point tensor is needed (got i64)"},
      {"vector_norm", {real({2, 3})}, {2.0, Dims{0, 0}}, "dim 1 appears more than once"},
      {"topk", {real({2, 3})}, {4}, "topk: k must lie in 0 to 3, the size of dim 2 (got 4)"},
  };
}

}  // namespace

extern const SampleFamily kReduce{reduce_samples, bad_reduce_samples};

}  // namespace lunagrad::tests
