#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
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
  };
}

std::vector<BadSample> bad() {
  return {
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
  };
}

}  // namespace

extern const SampleFamily kView{good, bad};

}  // namespace lunagrad::tests
