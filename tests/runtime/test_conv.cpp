// Convolutions of any geometry against plain loops in double precision, on every SIMD target; corner cases of
// max pooling by taps: ties, NaN, infinities.
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cmath>
#include <vector>

#include "runtime/core/random.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/ops/nn/cpu/conv.h"
#include "runtime/tape/tape.h"

using namespace lunagrad;

namespace {

// Random integers and reals that depend only on the seed.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(philox(seed_, 0, next_++)[0] % uint64_t(high - low + 1));
  }
  template <class T>
  std::vector<T> reals(int64_t count) {
    std::vector<T> values(size_t(count), T(0));
    for (T& value : values) value = T(between(-1000, 1000)) / T(1000);
    return values;
  }

 private:
  uint64_t seed_, next_ = 0;
};

ConvGeometry random_geometry(Draws& draw) {
  ConvGeometry g;
  g.batch = draw.between(1, 4);
  g.groups = draw.between(1, 3);
  g.in_channels = g.groups * draw.between(1, draw.between(0, 3) ? 4 : 20);
  g.out_channels = g.groups * draw.between(1, draw.between(0, 3) ? 6 : 20);
  const int64_t dims = draw.between(1, 3);
  for (size_t d = size_t(3 - dims); d < 3; ++d) {
    g.kernel[d] = draw.between(1, 4);
    g.stride[d] = draw.between(0, 1) ? 1 : draw.between(1, 4);
    g.dilation[d] = draw.between(0, 1) ? 1 : draw.between(1, 3);
    g.padding[d] = draw.between(0, 4);
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
    g.in[d] = std::max(draw.between(1, dims == 1 ? 300 : dims == 2 ? 40 : 9), reach - 2 * g.padding[d]);
    g.out[d] = (g.in[d] + 2 * g.padding[d] - reach) / g.stride[d] + 1;
    if (draw.between(0, 5) == 0 && g.out[d] > 1) --g.out[d];
  }
  return g;
}

// Small images of enough channels for blocked images.
ConvGeometry random_blocks(Draws& draw) {
  ConvGeometry g;
  g.batch = draw.between(1, 9);
  g.groups = draw.between(1, 2);
  g.in_channels = g.groups * draw.between(16, draw.between(0, 3) ? 40 : 150);
  g.out_channels = g.groups * draw.between(16, draw.between(0, 3) ? 40 : 110);
  const bool apart = draw.between(0, 3) == 0;  // windows that do not overlap need more channels
  if (apart) g.groups = 1, g.in_channels = draw.between(128, 140), g.out_channels = draw.between(128, 150);
  const int64_t dims = draw.between(1, 3);
  for (size_t d = size_t(3 - dims); d < 3; ++d) {
    g.kernel[d] = apart ? 1 : draw.between(2, 4);
    g.stride[d] = draw.between(1, 3);
    g.dilation[d] = draw.between(0, 1) ? 1 : 2;
    g.padding[d] = apart ? 0 : draw.between(0, 3);
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
    g.in[d] = std::max(draw.between(1, dims == 3 ? 4 : 12), reach - 2 * g.padding[d]);
    g.out[d] = (g.in[d] + 2 * g.padding[d] - reach) / g.stride[d] + 1;
  }
  return g;
}

// One channel in each group, images up to a size that needs several bands.
ConvGeometry random_depthwise(Draws& draw) {
  ConvGeometry g;
  g.batch = draw.between(1, 3);
  g.groups = g.in_channels = g.out_channels = draw.between(8, 40);
  const int64_t most = draw.between(0, 3) ? 20 : 70;
  for (size_t d = draw.between(0, 3) ? 1 : 2; d < 3; ++d) {
    g.kernel[d] = draw.between(1, 5);
    g.stride[d] = draw.between(1, 3);
    g.dilation[d] = draw.between(0, 1) ? 1 : 2;
    g.padding[d] = draw.between(0, 4);
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
    g.in[d] = std::max(draw.between(1, most), reach - 2 * g.padding[d]);
    g.out[d] = (g.in[d] + 2 * g.padding[d] - reach) / g.stride[d] + 1;
    if (draw.between(0, 5) == 0 && g.out[d] > 1) --g.out[d];
  }
  return g;
}

struct Sums {
  std::vector<double> y, dx, dweight;
};

// y = bias + conv(x, w), dx = shift + its gradient for g, and dweight, computed by loops.
template <class T>
Sums plain_loops(const ConvGeometry& g, const std::vector<T>& x, const std::vector<T>& weight,
                 const std::vector<T>& bias, const std::vector<T>& up, const std::vector<T>& shift) {
  Sums sums{std::vector<double>(up.size()), std::vector<double>(x.size()),
            std::vector<double>(weight.size())};
  for (size_t i = 0; i < x.size(); ++i)
    sums.dx[i] = double(shift[i / size_t(g.in_size()) % size_t(g.in_channels)]);
  for (size_t i = 0; i < up.size(); ++i)
    sums.y[i] = double(bias[i / size_t(g.out_size()) % size_t(g.out_channels)]);
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t o = 0; o < g.out_channels; ++o)
      for (int64_t k = 0; k < g.window(); ++k) {
        const auto w = size_t(o * g.window() + k);
        const int64_t channel =
            n * g.in_channels + o / g.group_outputs() * g.group_inputs() + k / g.kernel_size();
        const int64_t tap = k % g.kernel_size();
        const int64_t taps[] = {tap / g.kernel[2] / g.kernel[1], tap / g.kernel[2] % g.kernel[1],
                                tap % g.kernel[2]};
        const auto source = [&](size_t d, int64_t place) {
          const int64_t i = place * g.stride[d] - g.padding[d] + taps[d] * g.dilation[d];
          return i < g.in[d] ? i : -1;  // negative: outside
        };
        auto at = size_t((n * g.out_channels + o) * g.out_size());
        for (int64_t p = 0; p < g.out[0] * g.out[1]; ++p) {
          const int64_t z = source(0, p / g.out[1]), y = source(1, p % g.out[1]);
          for (int64_t q = 0; q < g.out[2]; ++q, ++at) {
            const int64_t x_place = source(2, q);
            if (z < 0 || y < 0 || x_place < 0) continue;
            const auto in = size_t(((channel * g.in[0] + z) * g.in[1] + y) * g.in[2] + x_place);
            sums.y[at] += double(x[in]) * double(weight[w]);
            sums.dx[in] += double(up[at]) * double(weight[w]);
            sums.dweight[w] += double(up[at]) * double(x[in]);
          }
        }
      }
  return sums;
}

template <class T>
double largest_difference(const std::vector<T>& got, const std::vector<double>& expected) {
  double error = 0, largest = 1;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(double(got[i]) - expected[i]);
    if (!(difference <= error)) error = std::isnan(difference) ? INFINITY : difference;
    largest = std::max(largest, std::abs(expected[i]));
  }
  return error / largest;
}

template <class T>
void check_geometry(const ConvGeometry& g, Draws& draw, double tolerance) {
  const auto x = draw.reals<T>(g.batch * g.in_channels * g.in_size()),
             weight = draw.reals<T>(g.out_channels * g.window());
  const auto bias = draw.reals<T>(g.out_channels), shift = draw.reals<T>(g.in_channels);
  const auto up = draw.reals<T>(g.batch * g.out_channels * g.out_size());
  std::vector<T> y(up.size(), T(NAN)), dx(x.size(), T(NAN)), dweight(weight.size(), T(NAN));
  conv_forward(g, x.data(), weight.data(), bias.data(), y.data());
  conv_grad_input(g, up.data(), weight.data(), shift.data(), dx.data());
  conv_grad_weight(g, x.data(), up.data(), dweight.data());
  const Sums expected = plain_loops(g, x, weight, bias, up, shift);
  const std::string where = "in " + std::to_string(g.in[1]) + " x " + std::to_string(g.in[2]) + ", kernel " +
                            std::to_string(g.kernel[1]) + " x " + std::to_string(g.kernel[2]) + ", stride " +
                            std::to_string(g.stride[1]) + " x " + std::to_string(g.stride[2]);
  CHECK_MESSAGE(largest_difference(y, expected.y) < tolerance, "y, " << where);
  CHECK_MESSAGE(largest_difference(dx, expected.dx) < tolerance, "dx, " << where);
  CHECK_MESSAGE(largest_difference(dweight, expected.dweight) < tolerance, "dweight, " << where);
}

}  // namespace

TEST_CASE("convolutions of any geometry and their gradients agree with plain loops on every SIMD target") {
  const auto supported = hwy::SupportedTargets();
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_SCALAR}) {
    if (!(supported & HWY_TARGETS & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    Draws draw(42);
    for (int i = 0; i < 40; ++i) {
      check_geometry<float>(random_geometry(draw), draw, 2e-5);
      check_geometry<double>(random_geometry(draw), draw, 1e-12);
    }
    for (int i = 0; i < 15; ++i) {
      check_geometry<float>(random_blocks(draw), draw, 2e-5);
      check_geometry<double>(random_blocks(draw), draw, 1e-12);
    }
    for (int i = 0; i < 40; ++i) {
      check_geometry<float>(random_depthwise(draw), draw, 2e-5);
      check_geometry<double>(random_depthwise(draw), draw, 1e-12);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST_CASE("convolutions of small images and their gradients have the same bits for any number of threads") {
  const int before = thread_count();
  Draws draw(3);
  for (int i = 0; i < 12; ++i) {
    ConvGeometry g = i % 2 ? random_blocks(draw) : random_depthwise(draw);
    if (i % 3 == 0) {  // few channels of images
      g.groups = 1, g.in_channels = 3, g.batch = 12;
    }
    const auto x = draw.reals<float>(g.batch * g.in_channels * g.in_size()),
               weight = draw.reals<float>(g.out_channels * g.window());
    const auto bias = draw.reals<float>(g.out_channels);
    const auto up = draw.reals<float>(g.batch * g.out_channels * g.out_size());
    std::vector<float> first[3];
    for (const int threads : {1, 2, 7, 16}) {
      set_thread_count(threads);
      std::vector<float> got[] = {std::vector<float>(up.size()), std::vector<float>(x.size()),
                                  std::vector<float>(weight.size())};
      conv_forward(g, x.data(), weight.data(), bias.data(), got[0].data());
      conv_grad_input<float>(g, up.data(), weight.data(), nullptr, got[1].data());
      conv_grad_weight(g, x.data(), up.data(), got[2].data());
      for (size_t part = 0; part < 3; ++part) {
        if (threads == 1) first[part] = got[part];
        CHECK(got[part] == first[part]);
      }
    }
  }
  set_thread_count(before);
}

TEST_CASE("a convolution over many tiles agrees with plain loops, with and without stride") {
  Draws draw(7);
  for (const int64_t stride : {1, 2}) {
    ConvGeometry g;
    g.in_channels = 48, g.out_channels = 11;
    g.in = {1, 31, 330}, g.kernel = {1, 3, 5}, g.stride = {1, stride, stride}, g.padding = {0, 1, 2};
    g.out = {1, (31 + 2 - 3) / stride + 1, (330 + 4 - 5) / stride + 1};
    check_geometry<float>(g, draw, 2e-5);
    check_geometry<double>(g, draw, 1e-12);
  }
}

TEST_CASE(
    "overlapping windows: NaN wins, ties give the gradient to the first, Inf counts, padding never "
    "wins") {
  const double inf = INFINITY;
  const std::vector<double> row = {1, 1, 3, NAN, 2, -inf, -inf, -inf, -inf, 5};
  for (const int64_t copies : {1, 3}) {  // shorter and longer than a vector
    std::vector<double> values;
    for (int64_t i = 0; i < copies; ++i) values.insert(values.end(), row.begin(), row.end());
    Tensor x = Tensor::from<double>(values, {1, 1, int64_t(values.size())}).requires_grad_();
    const Tensor y = max_pool1d(x, {3}, {2}, {1});
    const std::vector<double> got = y.to_vector<double>();
    CHECK(got[0] == 1);
    CHECK(std::isnan(got[1]));
    CHECK(std::isnan(got[2]));
    CHECK(got[3] == -inf);
    CHECK(got[4] == 5);
    const Tensor dx = grad({y}, {x}, {ones(y.shape(), DType::f64)})[0];
    const std::vector<double> first(dx.to_vector<double>());
    const std::vector<double> expected = {1, 0, 0, 2, 0, 1, 0, 0, 0, 1};
    for (size_t i = 0; i + 1 < expected.size(); ++i) CHECK(first[i] == expected[i]);
    CHECK(sum(dx).item() == double(got.size()));
  }
}

TEST_CASE("transposed convolution is the adjoint of convolution") {
  const NoGrad off;
  const Tensor x = randn({2, 6, 9, 7}, DType::f64), weight = randn({6, 4, 4, 3}, DType::f64);
  const Tensor y = conv_transpose2d(x, weight, {}, {2, 3}, {1, 0}, {1, 2}, 2, {2, 1});
  const Tensor g = randn(y.shape(), DType::f64);
  const Tensor back = conv2d(g, weight, {}, {2, 3}, {1, 0}, {2, 1}, 2);
  REQUIRE(back.shape() == x.shape());
  CHECK(sum(y * g).item() == doctest::Approx(sum(x * back).item()).epsilon(1e-10));
}
