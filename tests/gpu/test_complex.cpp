// Complex numbers on the Vulkan device against the CPU: extreme arguments, copies, sums and products of sizes
// that do not divide into blocks or tiles.
#include <set>

#include "runtime/elementwise/elementwise.h"
#include "tests/gpu/compare.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

using C = std::complex<double>;

Tensor complex_random(const Shape& shape, uint64_t stream) {
  return complex(random(shape, stream), random(shape, stream + 50));
}
Tensor in_c128(const Tensor& z) { return to(to(z, cpu_device()), DType::c128); }

// Equal NaN and infinities, else equal within a few roundings of the magnitude.
bool close(double got, double expected, double size, bool signed_zeros) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  if (expected == 0 && got == 0) return !signed_zeros || std::signbit(got) == std::signbit(expected);
  return std::abs(got - expected) <= 4e-6 * size + 1e-37;
}

TEST_CASE("complex elementwise kernels equal the CPU's at extreme arguments") {
  const NoGrad off;
  const float nan = NAN, inf = INFINITY;
  std::vector<std::complex<float>> all;
  std::vector<float> edges = {0.0f,   -0.0f, 1.0f,  -1.0f,  0.5f,   -2.5f, nan,   inf,     -inf,
                              1e-30f, 1e-4f, 3e38f, -3e37f, -88.0f, 90.0f, 1e10f, 1.0001f, 7.0f};
  // Reciprocals and exponentials of extreme arguments are subnormal, or have subnormal intermediate values.
  if (!has_denormals())
    std::erase_if(edges,
                  [](float edge) { return edge == 1e-30f || (std::abs(edge) > 10 && !std::isinf(edge)); });
  for (const float re : edges)
    for (const float im : edges) all.emplace_back(re, im);
  // These divide 1 + 0i; compilers may drop the zero.
  const std::set<Row> of_constants = {Row::pow, Row::reciprocal, Row::rsqrt, Row::sigmoid};
  const Fallbacks fallbacks;
  for (int row = 0; row < kRowCount; ++row) {
    if (!takes_complex(Row(row))) continue;
    const Op& op = elementwise_op(Row(row));
    const int arity = row_traits(row).arity;
    // Each number with some others: all pairs would be a hundred thousand.
    constexpr size_t kSteps[] = {1, 7, 11}, kTurns[] = {0, 6, 22};
    TensorList here, there;
    for (size_t i = 0; i < size_t(arity); ++i) {
      std::vector<std::complex<float>> values;
      for (size_t k = 0; k < all.size() * (arity > 1 ? 24 : 1); ++k)
        values.push_back(all[(k * kSteps[i] + k / all.size() * kTurns[i]) % all.size()]);
      here.push_back(Tensor::from<std::complex<float>>(values, {int64_t(values.size())}));
    }
    if (Row(row) == Row::where) here[0] = isnan(here[0]);
    for (const Tensor& x : here) there.push_back(to(x, gpu()));
    const Values params = complete(op, {});
    const Tensor expected = apply1(op, here, params), got = to(apply1(op, there, params), cpu_device());
    REQUIRE(got.dtype() == expected.dtype());
    const std::vector<double> x = numbers_of(got), y = numbers_of(expected);
    const size_t parts = is_complex(got.dtype()) ? 2 : 1;
    int wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double size = 0;
      for (size_t k = i / parts * parts; k < i / parts * parts + parts; ++k)
        if (std::isfinite(y[k])) size = std::max(size, std::abs(y[k]));
      // The error of a sum is relative to its terms.
      const auto operand = [&](size_t k) { return C(here[k].data<std::complex<float>>()[i / parts]); };
      if (arity == 3 && Row(row) != Row::where)
        for (const double part : {operand(0).real(), operand(0).imag()})
          if (std::isfinite(part)) size = std::max(size, std::abs(part));
      if (Row(row) == Row::pow) {  // the error of e^(b log a) grows with its exponent
        const double exponent = std::abs(operand(1) * std::log(operand(0)));
        if (exponent > 1e3) continue;
        size *= std::max(1.0, exponent);
      }
      if (!close(x[i], y[i], size, !of_constants.contains(Row(row))) && ++wrong <= 3)
        MESSAGE(std::string(op.name) << ", number " << i / parts << ", part " << i % parts << ": " << x[i]
                                     << ", expected " << y[i]);
    }
    CHECK_MESSAGE(wrong == 0, std::string(op.name) << ": " << wrong << " of " << x.size());
  }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("complex numbers are copied bit for bit, and real ones converted, in any layout") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Tensor z = complex_random({5, 6, 7}, 1);
  for (const Arrangement arrangement :
       {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
    const Tensor there = arrange(z, arrangement);
    CHECK(distance(contiguous(there), z) == 0);
    CHECK(distance(flip(there, {0, 2}), flip(z, {0, 2})) == 0);
    CHECK(distance(pad(there, {1, 2, 0, 1}, PadMode::constant, 0.5),
                   pad(z, {1, 2, 0, 1}, PadMode::constant, 0.5)) == 0);
    CHECK(distance(to(there, DType::boolean), to(z, DType::boolean)) == 0);
    CHECK(distance(cat({there, real(there)}, 1), cat({z, real(z)}, 1)) == 0);
  }
  for (const DType type :
       {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32}) {
    const Tensor x = to(random({4, 9}, 3) * 3, type);
    CHECK_MESSAGE(
        distance(to(transpose(to(x, gpu()), 0, 1), DType::c64), to(transpose(x, 0, 1), DType::c64)) == 0,
        "from " << type);
  }
  CHECK(distance(full({3}, 2.5, DType::c64, gpu()), full({3}, 2.5, DType::c64)) == 0);
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("complex sums, cumsum and index_add, of sizes that do not divide into blocks") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const Shape& shape : {Shape{1}, Shape{3, 4, 5}, Shape{1, 700, 3}, Shape{300, 70}, Shape{2, 100000},
                             Shape{100000, 2}, Shape{2, 1, 3, 1, 2, 2, 1, 5}, Shape{0, 3}}) {
    const Tensor z = complex_random(shape, 1), exact = in_c128(z);
    for (int d = 0; d < shape.size(); ++d)
      for (const Arrangement arrangement :
           {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
        const Tensor there = arrange(z, arrangement);
        const std::string what = text("of ", shape, " along ", d, ", layout ", int(arrangement));
        CHECK_MESSAGE(distance(sum(there, {d}), sum(exact, {d})) < 1e-5, "sum " << what);
        CHECK_MESSAGE(distance(sum(there), sum(exact)) < 1e-5, "sum of all " << what);
        if (shape[0] == 0) continue;
        CHECK_MESSAGE(distance(mean(there, {d}), mean(exact, {d})) < 1e-5, "mean " << what);
        CHECK_MESSAGE(distance(cumsum(there, d), cumsum(exact, d)) < 1e-5, "cumsum " << what);
        CHECK_MESSAGE(distance(any(there, {d}), any(z, {d})) == 0, "any " << what);
      }
  }
  const Tensor x = complex_random({10, 30}, 5), source = complex_random({70, 30}, 7);
  const Tensor index = to(floor(random({70}, 9, 0, 9.99)), DType::i64);
  CHECK(distance(index_add(to(x, gpu()), 0, to(index, gpu()), arrange(source, Arrangement::transposed)),
                 index_add(in_c128(x), 0, index, in_c128(source))) < 1e-6);
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("complex products of odd sizes, transposes and batches") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const Factors& c : all_factors()) {
    const Tensor a = complex_random(c.a, 1), b = complex_random(c.b, 2);
    const Tensor exact = matmul(in_c128(a), in_c128(b));
    for (const Arrangement left : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced})
      for (const Arrangement right : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced})
        CHECK_MESSAGE(
            distance(matmul(arrange(a, left), arrange(b, right)), exact) < 3e-6,
            "matmul of " << text(c.a, " and ", c.b) << ", layouts " << int(left) << " " << int(right));
  }
  const Tensor x = complex_random({3, 7, 40}, 3), w = complex_random({33, 40}, 4),
               bias = complex_random({33}, 5);
  CHECK(distance(
            linear(arrange(x, Arrangement::transposed), arrange(w, Arrangement::transposed), to(bias, gpu())),
            linear(in_c128(x), in_c128(w), in_c128(bias))) < 3e-6);
  CHECK(fallbacks.ops.empty());
}

}  // namespace
}  // namespace lunagrad::tests
