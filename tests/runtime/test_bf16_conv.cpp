// Convolutions of bf16 images and their gradients against f64, with a kernel in plain C++ and the
// processor's.
#include <doctest/doctest.h>

#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/tape/tape.h"
#include "tests/support/bf16.h"
#include "tests/support/same_bits.h"

namespace lunagrad {
namespace {

using namespace tests;

struct Bf16ConvCase {
  Shape x, weight;  // of a transposed convolution [in, out / groups, ...]
  Dims stride, padding, dilation;
  int64_t groups;
  bool transposed = false;
};

// The shapes fill the tiles in both directions, so that every product runs on the kernel.
const Bf16ConvCase kCases[] = {
    {{2, 33, 70}, {40, 33, 3}, {1}, {1}, {1}, 1},
    {{2, 32, 9, 11}, {35, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{1, 32, 12, 10}, {33, 32, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1},
    {{1, 32, 13, 12}, {32, 32, 3, 2}, {2, 3}, {2, 0}, {1, 2}, 1},
    {{19, 32, 4, 3}, {32, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},  // several images for each partial sum
    {{3, 40, 6, 5}, {32, 40, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{1, 32, 8, 9}, {32, 32, 2, 2}, {2, 3}, {0, 0}, {1, 1}, 1},
    {{2, 64, 7, 6}, {66, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
    {{1, 32, 4, 5, 6}, {33, 32, 2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}, 1},
    {{1, 32, 70, 40}, {32, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{2, 36, 7, 6}, {36, 33, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, true},
};

Tensor convolve_case(const Bf16ConvCase& c, const Tensor& x, const Tensor& w, const Tensor& bias) {
  switch (c.x.size()) {
    case 3:
      return conv1d(x, w, bias, c.stride, c.padding, c.dilation, c.groups);
    case 5:
      return conv3d(x, w, bias, c.stride, c.padding, c.dilation, c.groups);
  }
  if (c.transposed) return conv_transpose2d(x, w, bias, c.stride, c.padding, {0, 0}, c.groups, c.dilation);
  return conv2d(x, w, bias, c.stride, c.padding, c.dilation, c.groups);
}

// The result and the gradients of x, weight and bias.
TensorList all_of(const Bf16ConvCase& c, Tensor x, Tensor w, Tensor bias, const Tensor& g) {
  x = clone(x).requires_grad_(), w = clone(w).requires_grad_(), bias = clone(bias).requires_grad_();
  const Tensor y = convolve_case(c, x, w, bias);
  TensorList results = grad({y}, {x, w, bias}, {g});
  results.push_back(y.detach());
  return results;
}

TEST_CASE("bf16 convolutions and their gradients are f32 sums, rounded once") {
  for (const Bf16Kernel* kernel : kernels())
    for (const Bf16ConvCase& c : kCases) {
      INFO(std::string(kernel->name), " ", text(c.x), " ", text(c.weight));
      const Tensor x = draw(c.x, 1), w = draw(c.weight, 2),
                   bias = draw({c.transposed ? c.weight[1] : c.weight[0]}, 3);
      const Tensor g = draw(convolve_case(c, x, w, bias).shape(), 4);
      const TensorList exact = all_of(c, x, w, bias, g), sizes = all_of(c, abs(x), abs(w), abs(bias), abs(g));
      const UseKernel use(kernel);
      const int before = plain_calls;
      const TensorList got = all_of(c, narrow_of(x), narrow_of(w), narrow_of(bias), narrow_of(g));
      if (kernel == &kPlain) CHECK(plain_calls > before);
      for (size_t i = 0; i < got.size(); ++i) {
        INFO("result ", i);
        CHECK(is_rounded(got[i], exact[i], sizes[i], 64));
      }
    }
}

TEST_CASE("bf16 convolutions have the same bits with any number of threads") {
  const int before = thread_count();
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    const Bf16ConvCase& c = kCases[1];
    const Tensor x = narrow_of(draw(c.x, 1)), w = narrow_of(draw(c.weight, 2)),
                 bias = narrow_of(draw({35}, 3));
    const Tensor g = narrow_of(draw({2, 35, 9, 11}, 4));
    set_thread_count(1);
    const TensorList first = all_of(c, x, w, bias, g);
    for (const int threads : {2, 3, 7}) {
      set_thread_count(threads);
      const TensorList again = all_of(c, x, w, bias, g);
      for (size_t i = 0; i < again.size(); ++i) CHECK(same_bits(again[i], first[i]));
    }
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace lunagrad
