#pragma once
// Shared by the tests of the Vulkan device: operands in several layouts, and distances between results.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "folders.h"
#include "gpu/gpu.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad::tests {

// A file of the source tree. On another machine than the builder's, LUNAGRAD_SOURCE names the tree.
inline std::string source_file(const std::string& name) {
  const char* const root = std::getenv("LUNAGRAD_SOURCE");
  return std::string(root ? root : LUNAGRAD_SOURCE_DIR) + "/" + name;
}

inline Device& gpu() { return require_device("vulkan"); }

// Whether the device has subnormal f32. Other devices flush them to 0.
inline bool has_denormals() {
  const NoGrad off;
  return (to(full({1}, 2e-38, DType::f32), gpu()) * 0.1).item() > 0;
}

// Counts the ops that fell back to the CPU, and the casts.
class Fallbacks final : public Trace {
 public:
  Fallbacks() : previous_(context().trace) { context().trace = this; }
  ~Fallbacks() override { context().trace = previous_; }
  void ran(const Call& call, uint64_t) override { casts += std::string_view(call.op->name) == "_cast"; }
  // Double precision runs on the CPU by design and is not counted.
  void fell_back(const Call& call, const char*) override {
    const auto wide = [](const Tensor& x) {
      return x.defined() && ((x.dtype() == DType::f64 && !x.is_number()) || x.dtype() == DType::c128);
    };
    if (std::none_of(call.in.begin(), call.in.end(), wide) &&
        std::none_of(call.out.begin(), call.out.end(), wide))
      ++ops[call.op->name];
  }
  std::map<std::string, int> ops;
  int casts = 0;

 private:
  Trace* previous_;
};

inline void require_none(const Fallbacks& fallbacks) {
  for (const auto& [name, count] : fallbacks.ops) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

inline std::vector<float> uniform(int64_t count, uint64_t stream, double low = -2, double high = 2) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(low + (high - low) * uniform_f64(philox(7, stream, i)[0], philox(7, stream, i)[1]));
  return values;
}
inline Tensor random(const Shape& shape, uint64_t stream, double low = -2, double high = 2) {
  return Tensor::from<float>(uniform(numel(shape), stream, low, high), shape);
}

// Largest difference relative to the largest finite expected value (at least `smallest_scale`); infinite if
// shapes, NaN or infinities differ.
inline double distance(const Tensor& got, const Tensor& expected, double smallest_scale = 1e-3) {
  if (!(got.shape() == expected.shape())) return INFINITY;
  if (is_complex(got.dtype()) && is_complex(expected.dtype())) {
    const auto parts = [](const Tensor& z) {
      return view_as_real(reshape(to(z.detach(), cpu_device()), {z.numel()}));
    };
    return distance(parts(got), parts(expected), smallest_scale);
  }
  const std::vector<double> x = got.to_vector<double>(), y = expected.to_vector<double>();
  double largest = smallest_scale, worst = 0;
  for (const double value : y)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
    const double error = std::abs(x[i] - y[i]) / largest;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

// Singular vectors and eigenvectors have free signs, and a completed basis is free: devices may differ.
// test_decompositions.cpp checks the properties that define them.
inline bool has_free_signs(const Op& op) {
  const std::string_view name = op.name;
  return name == "linalg.svd" || name == "svd" || name == "linalg.eigh";
}

inline Tensor without_free_signs(const Op& op, const Tensor& x) {
  return has_free_signs(op) ? abs(x.detach()) : x;
}

inline double largest(const Tensor& x) { return x.numel() == 0 ? 0 : amax(x).item(); }

// The largest error of a product, relative to the product of the absolute values.
inline double product_error(const Tensor& got, const Tensor& a, const Tensor& b) {
  const Tensor x = to(a, DType::f64), y = to(b, DType::f64);
  return largest(abs(to(to(got, cpu_device()), DType::f64) - matmul(x, y)) /
                 (matmul(abs(x), abs(y)) + 1e-30));
}

// Operands of products: short, long and odd sizes, vectors, batches, broadcast, empty.
struct Factors {
  Shape a, b;
};
inline const std::vector<Factors>& all_factors() {
  static const std::vector<Factors> all = {
      {{1, 1}, {1, 1}},       {{3, 5}, {5, 7}},     {{65, 33}, {33, 129}}, {{130, 17}, {17, 131}},
      {{256, 64}, {64, 200}}, {{5}, {5}},           {{5}, {5, 3}},         {{4, 5}, {5}},
      {{3, 4, 5}, {3, 5, 6}}, {{3, 4, 5}, {5, 6}},  {{3, 4, 5}, {5}},      {{2, 1, 4, 5}, {3, 5, 2}},
      {{4, 0}, {0, 3}},       {{1, 300}, {300, 1}}, {{200, 1}, {1, 200}},  {{2000, 8}, {8, 1100}}};
  return all;
}

// All types but f64 and the complex ones.
inline constexpr DType kRealTypes[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                                       DType::f16,     DType::bf16, DType::f32};

enum class Arrangement { contiguous, transposed, sliced };

// The same elements on the device, with another layout in memory.
inline Tensor arrange(const Tensor& x, Arrangement arrangement) {
  if (!x.defined()) return x;
  const NoGrad off;
  const Tensor there = to(x, gpu());
  if (arrangement == Arrangement::transposed && x.ndim() >= 2)
    return transpose(clone(transpose(there, 0, -1)), 0, -1);
  if (arrangement == Arrangement::sliced && x.ndim() >= 1) {
    Shape wide = x.shape();
    wide[x.ndim() - 1] = 2 * wide[x.ndim() - 1] + 1;
    const Tensor memory = zeros(wide, x.dtype(), gpu());
    return copy_(slice(memory, -1, 1, wide[x.ndim() - 1], 2), there);
  }
  return there;
}

// The elements as integers of their bits, so that NaN and both zeros are told apart.
inline std::vector<int64_t> words(const Tensor& x) {
  const Tensor here = contiguous(to(x.detach(), cpu_device()));
  if (!is_floating(here.dtype())) return here.to_vector<int64_t>();
  std::vector<int64_t> found;
  for (const float value : here.to_vector<float>())
    found.push_back(value != value ? INT64_MAX : std::bit_cast<int32_t>(value));
  return found;
}

}  // namespace lunagrad::tests
