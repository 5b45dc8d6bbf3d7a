#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
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
      {"dropout", {real({4, 5})}, {0.4, true}},
      {"dropout", {real({4, 5})}, {0.4, false}},
  };
}

std::vector<BadSample> bad() {
  return {
      {"dropout", {real({3})}, {1.5}, "dropout: p must lie in [0, 1] (got 1.5)"},
      {"arange", {}, {0, 5, -1}, "arange: a step of -1 does not lead from 0 to 5"},
      {"arange", {}, {0, 5, 0}, "arange: the step must not be 0"},
      {"randint", {}, {3, 3, Shape{2}}, "randint: low must be below high (got 3 and 3)"},
      {"zeros", {}, {Shape{2, -1}}, "a size must not be negative"},
  };
}

}  // namespace

extern const SampleFamily kCreate{good, bad};

}  // namespace lunagrad::tests
