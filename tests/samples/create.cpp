#include <cstdint>

#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> create_samples() {
  return {
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
      {"poisson", {real({3, 4}, 0, 30)}},
      {"multinomial", {real({2, 5}, 0.1, 1)}, {3}},
      {"multinomial", {real({5}, 0.1, 1)}, {8, true}},
      {"dropout", {real({4, 5})}, {0.4, true}},
      {"dropout", {real({4, 5})}, {0.4, false}},
  };
}

std::vector<BadSample> bad_create_samples() {
  return {
      {"dropout", {real({3})}, {1.5}, "dropout: p must lie in [0, 1] (got 1.5)"},
      {"arange", {}, {0, 5, -1}, "arange: a step of -1 does not lead from 0 to 5"},
      {"arange", {}, {0, 5, 0}, "arange: the step must not be 0"},
      {"arange", {}, {INT64_MIN, INT64_MAX}, "is too many elements"},
      {"arange", {}, {INT64_MAX, INT64_MIN, 1}, "arange: a step of 1 does not lead from"},
      {"multinomial", {real({2, 2, 2})}, {1}, "multinomial: weights of 1 or 2 dims expected"},
      {"multinomial", {index({2}, 0, 3)}, {1}, "multinomial: a floating-point dtype is needed (got i64)"},
      {"multinomial", {real({3}, 0, 1)}, {0}, "multinomial: num_samples must be at least 1 (got 0)"},
      {"multinomial", {real({3}, 0, 1)}, {4}, "multinomial: 4 samples without replacement from 3 categories"},
      {"multinomial", {real({3}, -2, -1)}, {1}, "multinomial: a weight must be finite and not negative"},
      {"multinomial", {real({3}, 0, 0)}, {1}, "multinomial: the weights of a row add up to 0"},
      {"randint", {}, {3, 3, Shape{2}}, "randint: low must be below high (got 3 and 3)"},
      {"zeros", {}, {Shape{2, -1}}, "a size must not be negative"},
  };
}

}  // namespace

extern const SampleFamily kCreate{create_samples, bad_create_samples};

}  // namespace lunagrad::tests
