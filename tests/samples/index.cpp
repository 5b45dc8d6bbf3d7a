#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
      // indexing
      {"index_select", {real({2, 5}), index({4}, 0, 5)}, {1}},
      {"index_add", {real({3, 2}), index({4}, 0, 3), real({4, 2})}, {0, 0.5}},
      {"gather", {real({3, 4}), index({2, 6}, 0, 4)}, {1}},
      {"scatter_add", {real({3, 4}), index({3, 6}, 0, 4), real({3, 7})}, {1}},
      {"embedding", {index({2, 3}, 0, 5), real({5, 4})}},
      {"masked_fill", {real({2, 3}), boolean({3})}, {0.5}},
      {"masked_select", {real({2, 3}), boolean({2, 3})}},
      {"nonzero", {boolean({3, 4})}},
      {"one_hot", {index({2, 3}, 0, 4)}, {4}},
  };
}

std::vector<BadSample> bad() {
  return {
      {"index_select",
       {real({2, 3}), index({2}, 3, 4)},
       {1},
       "index_select: index 3 at position 1 is out of range for dim 2 of size 3 (indices count from 0)"},
      {"index_select",
       {real({2, 3}), real({2})},
       {1},
       "index_select: indices must be i64, i32 or u8 (got f64)"},
      {"gather",
       {real({2, 3}), index({2, 1}, -1, 0)},
       {1},
       "gather: index -1 at position 1 is out of range for dim 2 of size 3"},
      {"gather",
       {real({2, 3}), index({3, 1}, 0, 2)},
       {1},
       "gather: an index of shape [3, 1] does not fit a tensor of shape [2, 3] along dim 2"},
      {"embedding",
       {index({2}, 5, 6), real({5, 4})},
       {},
       "embedding: index 5 at position 1 is out of range for dim 1 of size 5"},
      {"masked_fill",
       {real({2, 3}), boolean({2})},
       {0.5},
       "masked_fill: a mask of shape [2] does not broadcast"},
      {"masked_fill", {real({3}), real({3})}, {0.5}, "masked_fill: the mask must be bool (got f64)"},
      {"one_hot", {index({2}, 4, 5)}, {3}, "one_hot: index 4 at position 1 is out of range"},
  };
}

}  // namespace

extern const SampleFamily kIndex{good, bad};

}  // namespace lunagrad::tests
