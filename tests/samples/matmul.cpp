#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
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
      {"linear", {real({2, 3, 4}), real({2, 4}), absent()}},
      {"linear", {real({4}), real({2, 4}), real({2})}},
  };
}

std::vector<BadSample> bad() {
  return {
      {"matmul",
       {real({2, 3}), real({4, 5})},
       {},
       "matmul: shapes [2, 3] and [4, 5] do not fit: the last dim of the"},
      {"matmul",
       {real({}), real({2})},
       {},
       "matmul: both operands need at least 1 dim (got shapes [] and [2])"},
      {"matmul", {real({2, 3}), index({3}, 0, 9)}, {}, "matmul: operands have types f64 and i64"},
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

}  // namespace

extern const SampleFamily kMatmul{good, bad};

}  // namespace lunagrad::tests
