#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> index_samples() {
  return {
      // indexing
      {"index_select", {real({2, 5}), index({4}, 0, 5)}, {1}},
      {"_select_once", {real({2, 5}), index({1}, 0, 5)}, {1}},
      {"index_add", {real({3, 2}), index({4}, 0, 3), real({4, 2})}, {0, 0.5}},
      {"gather", {real({3, 4}), index({2, 6}, 0, 4)}, {1}},
      {"scatter_add", {real({3, 4}), index({3, 6}, 0, 4), real({3, 7})}, {1}},
      {"embedding", {index({2, 3}, 0, 5), real({5, 4})}},
      {"masked_fill", {real({2, 3}), boolean({3})}, {0.5}},
      {"masked_fill", {real({2, 3}), boolean({3})}, {1}},
      {"masked_select", {real({2, 3}), boolean({2, 3})}},
      {"nonzero", {boolean({3, 4})}},
      {"one_hot", {index({2, 3}, 0, 4)}, {4}},
      {"index_add", {real({6, 5}), index({9}, 0, 6), real({9, 5})}, {0}},
      // Few indices into many rows: threads split the rows, and each has less than one index of work.
      {"index_add", {real({14, 4}), index({2}, 0, 14), real({2, 4})}, {0}},
      {"scatter", {real({3, 4}), index({3, 6}, 0, 4), real({3, 7})}, {1}},
      {"scatter", {real({3, 4}), index({2, 4}, 0, 3), real({2, 4})}, {0}},
      {"index_copy", {real({3, 2}), index({5}, 0, 3), real({5, 2})}, {0}},
      {"index_copy", {real({2, 4, 2}), index({2}, 0, 4), real({2, 2, 2})}, {1}},
      {"index_fill", {real({3, 4}), index({3}, 0, 4), real({})}, {1}},
      {"take", {real({3, 4}), index({2, 3}, 0, 12)}},
      {"take_along_dim", {real({3, 4}), index({1, 2}, 0, 4)}, {1}},
      {"take_along_dim", {real({3, 1}), index({3, 5}, 0, 3)}, {0}},
      {"take_along_dim", {real({3, 4}), index({7}, 0, 12)}},
  };
}

std::vector<BadSample> bad_index_samples() {
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
      {"scatter",
       {real({3}), index({2}, 3, 4), real({2})},
       {0},
       "scatter: index 3 at position 1 is out of range"},
      {"scatter",
       {real({3}), index({2}, 0, 3), index({2}, 0, 3)},
       {0},
       "scatter: the source is i64, the tensor f64"},
      {"scatter",
       {real({3}), index({3}, 0, 3), real({2})},
       {0},
       "scatter: an index of shape [3] does not fit a source of shape [2]"},
      {"scatter",
       {real({3}), real({2}), real({2})},
       {0},
       "scatter: indices must be i64, i32 or u8 (got f64)"},
      {"index_copy",
       {real({3, 2}), index({2}, 0, 3), real({3, 2})},
       {0},
       "index_copy: the source has shape [3, 2] where [2, 2] is needed for 2 indices"},
      {"index_copy",
       {real({3}), index({2}, 0, 3), index({2}, 0, 3)},
       {0},
       "index_copy: the source is i64, the tensor f64"},
      {"index_copy", {real({3}), index({2}, -1, 0), real({2})}, {0}, "index_copy: index -1 at position 1"},
      {"index_fill", {real({3}), index({2}, 0, 3), real({2})}, {0}, "index_fill: the value must be a number"},
      {"index_fill",
       {real({3}), index({1, 2}, 0, 3), real({})},
       {0},
       "index_fill: the index must have one dim"},
      {"index_fill", {real({3}), index({2}, 5, 6), real({})}, {0}, "index_fill: index 5 at position 1"},
      {"take", {real({2, 3}), index({2}, 6, 7)}, {}, "index 6 at position 1 is out of range"},
      {"take", {real({2, 3}), real({2})}, {}, "take: indices must be i64, i32 or u8 (got f64)"},
      {"take_along_dim",
       {real({2, 3}), index({2}, 0, 2)},
       {0},
       "take_along_dim: shapes [2, 3] and [2] have different numbers of dims"},
      {"take_along_dim",
       {real({2, 3}), index({3, 1}, 0, 2)},
       {1},
       "take_along_dim: shapes [2, 1] and [3, 1] do not broadcast"},
  };
}

}  // namespace

extern const SampleFamily kIndex{index_samples, bad_index_samples};

}  // namespace lunagrad::tests
