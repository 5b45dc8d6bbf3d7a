// Convolutions, pooling and resizing on the Vulkan device, of sizes that are not multiples of the tiles.
#include "runtime/core/work_times.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/hardware.h"

namespace lunagrad::tests {
namespace {

struct Convolution {
  Shape image, weight;
  Dims stride = {1}, padding = {0}, dilation = {1};
  int64_t groups = 1;
};

TEST_CASE("convolutions and their gradients with all kinds of windows") {
  const Fallbacks fallbacks;
  const Convolution cases[] = {{{1, 1, 1, 1}, {1, 1, 1, 1}},
                               {{2, 3, 9, 7}, {5, 3, 3, 3}},
                               {{2, 3, 9, 7}, {5, 3, 3, 2}, {2, 1}, {1, 0}},
                               {{2, 4, 11, 13}, {6, 2, 3, 3}, {2}, {2}, {2}, 2},
                               {{3, 8, 8, 8}, {8, 1, 3, 3}, {1}, {1}, {1}, 8},
                               {{1, 3, 5, 30}, {70, 3, 5, 5}, {1, 3}, {0, 4}, {1, 2}},
                               {{2, 40, 6, 6}, {130, 40, 1, 1}},
                               {{4, 16, 33, 31}, {33, 16, 3, 3}, {1}, {1}}};
  for (const Convolution& c : cases) {
    TensorList gradients[2];
    Tensor results[2];
    for (const bool there : {false, true}) {
      Device& device = there ? gpu() : cpu_device();
      const auto leaf = [&](const Shape& shape, uint64_t stream) {
        const NoGrad off;
        const Tensor x = to(random(shape, stream), DType::f32);
        return (there ? to(x, device) : to(x, DType::f64)).detach().requires_grad_();
      };
      const Tensor x = leaf(c.image, 1), w = leaf(c.weight, 2), b = leaf({c.weight[0]}, 3);
      const Tensor y = conv2d(x, w, b, c.stride, c.padding, c.dilation, c.groups);
      const Tensor weights = there ? to(random(y.shape(), 4), device) : to(random(y.shape(), 4), DType::f64);
      backward(sum(y * weights));
      results[there] = y;
      gradients[there] = {x.grad(), w.grad(), b.grad()};
    }
    const std::string what =
        text("of ", c.image, " with ", c.weight, ", stride ", c.stride, ", groups ", c.groups);
    CHECK_MESSAGE(distance(results[1], results[0]) < 2e-6, what);
    for (size_t i = 0; i < 3; ++i)
      CHECK_MESSAGE(distance(gradients[1][i], gradients[0][i]) < 4e-6, what << ": " << i);
  }
  CHECK(fallbacks.ops.empty());
}

struct HalfConvolution {
  Shape image, weight;
  Dims stride, padding, dilation = {1};
  int64_t groups = 1;
  bool transposed = false;
};

// On matrix units where the device has them, else in f32 arithmetic.
Tensor convolved(const HalfConvolution& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const int dims = c.image.size() - 2;
  if (c.transposed) {
    const Dims more(c.stride.begin()[0] > 1 ? Dims{1} : Dims{0});
    return dims == 1 ? conv_transpose1d(x, w, b, c.stride, c.padding, more, c.groups, c.dilation)
                     : conv_transpose2d(x, w, b, c.stride, c.padding, more, c.groups, c.dilation);
  }
  return dims == 1   ? conv1d(x, w, b, c.stride, c.padding, c.dilation, c.groups)
         : dims == 2 ? conv2d(x, w, b, c.stride, c.padding, c.dilation, c.groups)
                     : conv3d(x, w, b, c.stride, c.padding, c.dilation, c.groups);
}

TEST_CASE("convolutions of 16-bit types and at lower precision, with their gradients") {
  const Fallbacks fallbacks;
  const HalfConvolution cases[] = {{{2, 3, 9, 7}, {65, 3, 3, 3}, {1}, {0}},
                                   {{2, 19, 17, 16}, {70, 19, 3, 3}, {1}, {1}},
                                   {{3, 32, 14, 14}, {64, 32, 1, 1}, {1}, {0}},
                                   {{2, 32, 15, 13}, {40, 32, 1, 1}, {2}, {0}},
                                   {{2, 24, 20, 17}, {48, 24, 3, 3}, {2}, {1}},
                                   {{2, 16, 21, 19}, {24, 16, 5, 3}, {3, 2}, {2, 0}, {2, 3}},
                                   {{2, 16, 12, 12}, {24, 16, 3, 3}, {2}, {2}, {2}},
                                   {{2, 24, 11, 10}, {36, 12, 3, 3}, {1}, {1}, {1}, 2},
                                   {{9, 64, 7, 7}, {130, 64, 3, 3}, {1}, {1}},
                                   {{2, 20, 50}, {33, 20, 7}, {2}, {3}, {2}},
                                   {{2, 8, 6, 7, 8}, {16, 8, 3, 2, 3}, {1, 2, 1}, {1, 0, 2}},
                                   {{1, 12, 1, 1}, {8, 12, 3, 3}, {1}, {1}},
                                   {{3, 10, 30, 29}, {10, 1, 7, 7}, {1}, {3}, {1}, 10},
                                   {{9, 12, 8, 6}, {24, 1, 3, 5}, {2, 1}, {1, 2}, {1}, 12},
                                   {{2, 6, 15, 17}, {6, 1, 4, 3}, {3}, {2}, {2}, 6},
                                   {{2, 12, 9, 10}, {8, 3, 3, 3}, {1}, {1}, {1}, 4},
                                   {{3, 4, 1000}, {4, 1, 9}, {1}, {32}, {8}, 4},
                                   {{2, 4, 2100}, {4, 1, 19}, {2}, {9}, {1}, 4},
                                   {{1, 3, 5, 6, 7}, {6, 1, 3, 2, 3}, {2, 1, 1}, {1, 0, 1}, {1}, 3},
                                   {{2, 12, 9, 11}, {12, 1, 4, 4}, {2}, {1}, {1}, 12, true},
                                   {{2, 20, 9, 11}, {20, 33, 4, 4}, {2}, {1}, {1}, 1, true},
                                   {{2, 24, 30}, {24, 9, 5}, {3}, {2}, {1}, 2, true},
                                   {{1, 16, 4, 5}, {16, 16, 2, 3}, {2, 3}, {0, 1}, {2, 1}, 1, true},
                                   // Large enough for scaled f32 on matrix units.
                                   {{4, 40, 40, 36}, {72, 40, 3, 3}, {1}, {1}},
                                   {{4, 40, 61, 60}, {76, 40, 3, 3}, {2}, {1}},
                                   {{4, 72, 33, 32}, {72, 36, 3, 3}, {1}, {1}, {1}, 2},
                                   {{4, 64, 21, 20}, {64, 60, 4, 4}, {2}, {1}, {1}, 1, true}};
  struct Kind {
    DType type;
    MatmulPrecision precision;
    double bound;
  };
  const bool has_units = first_hardware().physical.matrix_units.float16;
  for (const Kind& kind :
       {Kind{DType::f16, MatmulPrecision::highest, 0x1p-10},
        Kind{DType::bf16, MatmulPrecision::highest, 0x1p-7}, Kind{DType::f32, MatmulPrecision::high, 0x1p-10},
        Kind{DType::f32, MatmulPrecision::medium, 0x1p-6}})
    for (const HalfConvolution& c : cases) {
      const bool is_large = numel(c.image) > 100000;
      if (is_large && (!has_units || kind.precision != MatmulPrecision::high)) continue;
      const MatmulPrecision before = context().matmul_precision;
      context().matmul_precision = kind.precision;
      Tensor results[2];
      TensorList gradients[2];
      for (const bool there : {false, true}) {
        const auto leaf = [&](const Shape& shape, uint64_t stream) {
          const NoGrad off;
          const Tensor x = to(random(shape, stream), kind.type);
          return (there ? to(x, gpu()) : to(x, DType::f64)).detach().requires_grad_();
        };
        const Tensor x = leaf(c.image, 1), w = leaf(c.weight, 2),
                     b = leaf({c.transposed ? c.weight[1] * c.groups : c.weight[0]}, 3);
        const Tensor y = convolved(c, x, w, b);
        CHECK(y.dtype() == x.dtype());
        const Tensor grad = to(random(y.shape(), 4), kind.type);
        backward(y, there ? to(grad, gpu()) : to(grad, DType::f64));
        results[there] = y;
        gradients[there] = {x.grad(), w.grad(), b.grad()};
      }
      context().matmul_precision = before;
      const std::string what = text(kind.type, " at precision ", int(kind.precision), ", ", c.image, " with ",
                                    c.weight, ", stride ", c.stride, c.transposed ? ", transposed" : "");
      CHECK_MESSAGE(distance(results[1], results[0]) < kind.bound, what);
      for (size_t i = 0; i < 3; ++i)
        CHECK_MESSAGE(distance(gradients[1][i], gradients[0][i]) < kind.bound, what << ": " << i);
    }
  CHECK(fallbacks.ops.empty());
}

int64_t dispatches() {
  int64_t count = 0;
  for (const KernelUse& use : dynamic_cast<WorkTimes&>(gpu()).kernels()) count += int64_t(use.dispatches);
  return count;
}

// With more than 64 remainders of the position by the stride, windows are added as columns.
TEST_CASE("large strides have few dispatches for the image's gradient, with the CPU's numbers") {
  const Fallbacks fallbacks;
  const HalfConvolution cases[] = {{{2, 3, 40, 37}, {5, 3, 9, 9}, {9}, {4}},
                                   {{2, 4, 700}, {6, 2, 7}, {90}, {3}, {2}, 2},
                                   {{3, 8, 33, 35}, {8, 1, 16, 16}, {16}, {0}, {1}, 8},
                                   {{1, 2, 19, 20, 21}, {3, 2, 3, 2, 4}, {5}, {1}, {2, 1, 3}},
                                   {{2, 6, 3, 4}, {6, 4, 12, 10}, {10, 9}, {2}, {1}, 2, true},
                                   {{1, 3, 5}, {3, 2, 300}, {70}, {30}, {1}, 1, true},
                                   {{2, 3, 4}, {3, 2, 3}, {5000}, {1}, {1}, 1, true}};
  for (const DType type : {DType::f32, DType::bf16, DType::c64})
    for (const HalfConvolution& c : cases) {
      Tensor results[2];
      TensorList gradients[2];
      const int64_t before = dispatches();
      for (const bool there : {false, true}) {
        const auto leaf = [&](const Shape& shape, uint64_t stream) {
          const NoGrad off;
          const Tensor real = random(shape, stream);
          const Tensor x = is_complex(type) ? complex(real, random(shape, stream + 50)) : to(real, type);
          const DType wide = is_complex(type) ? DType::c128 : DType::f64;
          return (there ? to(x, gpu()) : to(x, wide)).detach().requires_grad_();
        };
        const Tensor x = leaf(c.image, 1), w = leaf(c.weight, 2),
                     b = leaf({c.transposed ? c.weight[1] * c.groups : c.weight[0]}, 3);
        const Tensor y = convolved(c, x, w, b);
        backward(y, leaf(y.shape(), 4).detach());
        results[there] = y;
        gradients[there] = {x.grad(), w.grad(), b.grad()};
      }
      const std::string what = text(type, ' ', c.image, " with ", c.weight, ", stride ", c.stride);
      const double bound = type == DType::bf16 ? 0x1p-7 : 4e-6;
      CHECK_MESSAGE(distance(results[1], results[0]) < bound, what);
      for (size_t i = 0; i < 3; ++i)
        CHECK_MESSAGE(distance(gradients[1][i], gradients[0][i]) < bound, what << ": " << i);
      CHECK_MESSAGE(dispatches() - before < 120, what);
    }
  CHECK(fallbacks.ops.empty());
}

// Matrix units share converted operands between calls.
TEST_CASE("convolutions at lower precision see what was written into their operands since the last call") {
  const MatmulPrecision before = std::exchange(context().matmul_precision, MatmulPrecision::high);
  for (const DType type : {DType::bf16, DType::f32}) {
    const auto leaf = [&](const Shape& shape, uint64_t stream) {
      return to(to(random(shape, stream), type), gpu()).requires_grad_();
    };
    const Tensor x = leaf({4, 40, 24, 20}, 1), w = leaf({72, 40, 3, 3}, 2);
    const Tensor g = leaf({4, 72, 24, 20}, 3).detach();
    const auto all_of = [&](const Tensor& image, const Tensor& weight, const Tensor& gradient) {
      const Tensor y = conv2d(image, weight, Tensor(), {1}, {1});
      const TensorList found = grad({y}, {image, weight}, {gradient});
      return TensorList{y.detach(), found[0], found[1]};
    };
    const auto fresh = [&](const Tensor& tensor) { return clone(tensor.detach()).requires_grad_(); };
    all_of(x, w, g);
    for (const Tensor& changed : {x, w, g}) {
      {
        const NoGrad off;
        copy_(changed, -changed);
      }
      const TensorList got = all_of(x, w, g), expected = all_of(fresh(x), fresh(w), fresh(g));
      for (size_t i = 0; i < got.size(); ++i) CHECK(distance(got[i], expected[i]) == 0);
    }
  }
  context().matmul_precision = before;
}

TEST_CASE("pooling with padding, overlap and NaN equals the CPU's") {
  const Fallbacks fallbacks;
  Tensor image = random({2, 3, 17, 19}, 1);
  image.data<float>()[40] = NAN;
  for (const bool average : {false, true})
    for (const Dims& kernel : {Dims{2}, Dims{3, 5}}) {
      Tensor results[2], gradients[2];
      for (const bool there : {false, true}) {
        const Tensor x = (there ? to(image, gpu()) : image).detach().requires_grad_();
        results[there] = average ? avg_pool2d(x, kernel, Dims{2}, Dims{1}, true, false)
                                 : max_pool2d(x, kernel, Dims{2}, Dims{1}, Dims{2}, true);
        backward(sum(results[there] * to(random(results[there].shape(), 2), x.device())));
        gradients[there] = x.grad();
      }
      CHECK(distance(results[1], results[0]) < 1e-6);
      CHECK(distance(gradients[1], gradients[0]) < 1e-6);
    }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("16-bit images are pooled without casts, and a single window of any size is averaged") {
  const auto pooled = [](const Tensor& x, int kind) {
    return kind == 0   ? max_pool2d(x, {3}, {2}, {1}, {1}, false)
           : kind == 1 ? max_pool2d(x, {2}, {2}, {0}, {1}, false)
           : kind == 2 ? avg_pool2d(x, {3, 2}, {2}, {1}, false, true)
           : kind == 3 ? avg_pool2d(x, {17, 19}, {1}, {0}, false, true)
                       : adaptive_avg_pool2d(x, {kind == 4 ? 1 : 5});
  };
  for (const DType type : {DType::f32, DType::bf16, DType::f16})
    for (int kind = 0; kind < 6; ++kind) {
      const Tensor image = to(random({2, 3, 17, 19}, 1), type);
      const Tensor there = to(image, gpu()).requires_grad_(), here = image.detach().requires_grad_();
      const Tensor expected = pooled(here, kind), seed = to(random(expected.shape(), 2), type);
      backward(expected, seed);
      const Tensor seed_there = to(seed, gpu());
      const Fallbacks fallbacks;
      const Tensor y = pooled(there, kind);
      backward(y, seed_there);
      CHECK(fallbacks.casts == 0);
      CHECK(fallbacks.ops.empty());
      const double limit = type == DType::f32 ? 1e-6 : type == DType::f16 ? 1e-3 : 8e-3;
      CHECK_MESSAGE((y.dtype() == type && distance(y, expected) < limit), text(type, ' ', kind));
      CHECK_MESSAGE((there.grad().dtype() == type && distance(there.grad(), here.grad()) < limit),
                    text(type, ' ', kind));
    }
  const NoGrad off;
  const Tensor large = random({1, 2, 300, 310}, 3, 0, 1);
  CHECK(distance(adaptive_avg_pool2d(to(large, gpu()), {1}), adaptive_avg_pool2d(large, {1})) < 1e-6);
}

TEST_CASE(
    "the gradient of max pooling writes every element when windows do not overlap, with gaps and borders") {
  const Fallbacks fallbacks;
  struct Pool {
    Dims kernel, stride, padding;
  };
  for (const Pool& pool :
       {Pool{{2}, {2}, {0}}, Pool{{2, 3}, {3, 4}, {1}}, Pool{{1}, {5, 2}, {0}}, Pool{{17, 19}, {1}, {0}}}) {
    Tensor image = random({3, 2, 17, 19}, 1);
    image.data<float>()[40] = NAN;
    Tensor gradients[2];
    for (const bool there : {false, true}) {
      const Tensor x = (there ? to(image, gpu()) : image).detach().requires_grad_();
      const Tensor y = max_pool2d(x, pool.kernel, pool.stride, pool.padding, Dims{1}, false);
      backward(sum(y * to(random(y.shape(), 2), x.device())));
      gradients[there] = x.grad();
    }
    CHECK(distance(gradients[1], gradients[0]) == 0);
  }
  CHECK(fallbacks.ops.empty());
}

}  // namespace
}  // namespace lunagrad::tests
