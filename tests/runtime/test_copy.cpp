// Copies that transpose matrices or convert elements, and elementwise kernels on transposed operands: every
// dtype, every tile boundary, sizes written with non-temporal stores.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "runtime/ops.h"
#include "runtime/ops/elementwise/cpu/convert_kernels.h"

using namespace lunagrad;

namespace {

// The numbers 0 … 96 in an order without a short period.
Tensor numbers(const Shape& shape, DType dtype) {
  std::vector<double> values(size_t(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(i * 61 % 97);
  return to(Tensor::from<double>(values, shape), dtype);
}

// Whether y[i][j] equals f(x[j][i]).
template <class F>
bool is_turned(const Tensor& x, const Tensor& y, F&& f) {
  const std::vector<double> from = x.to_vector<double>(), to = y.to_vector<double>();
  const size_t rows = size_t(x.size(0)), columns = size_t(x.size(1));
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = 0; j < rows; ++j)
      if (to[i * rows + j] != f(from[j * columns + i])) return false;
  return true;
}

constexpr DType kTypes[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                            DType::f16,     DType::bf16, DType::f32, DType::f64};

}  // namespace

TEST_CASE("a transposing copy is right for every dtype and at every tile boundary") {
  for (const DType from : kTypes)
    for (const DType target : kTypes)
      for (const Shape& shape :
           {Shape{1, 5}, Shape{3, 4}, Shape{4, 3}, Shape{16, 16}, Shape{17, 33}, Shape{70, 41}}) {
        const Tensor x = numbers(shape, from);
        const auto convert_one = [&](double value) {
          return target == DType::boolean ? double(value != 0) : value;
        };
        CHECK(is_turned(x, contiguous(to(transpose(x, 0, 1), target)), convert_one));
        // The target is transposed.
        const Tensor y = zeros(shape, target);
        copy_(transpose(y, 0, 1), contiguous(transpose(x, 0, 1)));
        CHECK(y.to_vector<double>() == to(x, target).to_vector<double>());
      }
}

TEST_CASE("matrices larger than the caches are transposed correctly by copies and by elementwise ops") {
  for (const DType dtype : {DType::f32, DType::f64, DType::u8}) {
    const Tensor x = numbers({3001, 1003}, dtype);
    const auto same = [](double value) { return value; };
    CHECK(is_turned(x, contiguous(transpose(x, 0, 1)), same));
    CHECK(is_turned(x, transpose(x, 0, 1) * Tensor::number(int64_t(2)),
                    [](double value) { return 2 * value; }));
    CHECK(is_turned(x, gt(transpose(x, 0, 1), Tensor::number(int64_t(50))),
                    [](double value) { return value > 50; }));
  }
  const Tensor a = numbers({300, 200}, DType::f32), b = numbers({300, 200}, DType::f64);
  CHECK(is_turned(a, transpose(a, 0, 1) + transpose(b, 0, 1), [](double value) { return 2 * value; }));
  CHECK(is_turned(a, transpose(a, 0, 1) + contiguous(transpose(a, 0, 1)),
                  [](double value) { return 2 * value; }));
}

TEST_CASE("a flipped and transposed tensor is copied right, also beyond the caches") {
  for (const DType dtype : {DType::f32, DType::f64, DType::u8})
    for (const Shape& shape : {Shape{1, 5}, Shape{3, 4}, Shape{70, 41}, Shape{3001, 1003}}) {
      const Tensor x = numbers(shape, dtype);
      const std::vector<double> from = x.to_vector<double>();
      const size_t rows = size_t(shape[0]), columns = size_t(shape[1]);
      for (const bool first : {false, true})
        for (const bool second : {false, true}) {
          Dims dims;
          if (first) dims.push_back(0);
          if (second) dims.push_back(1);
          const std::vector<double> to = flip(transpose(x, 0, 1), dims).to_vector<double>();
          bool right = true;
          for (size_t i = 0; i < columns; ++i)
            for (size_t j = 0; j < rows; ++j)
              right &= to[i * rows + j] ==
                       from[(second ? rows - 1 - j : j) * columns + (first ? columns - 1 - i : i)];
          CHECK(right);
        }
    }
}

TEST_CASE("rows convert like single elements, including NaN and numbers out of range") {
  const std::vector<double> values = {0.0,   -0.0,     0.5,       -0.5,         1.9,    -1.9,   254.7, 255.0,
                                      256.0, -1.0,     1e9,       -1e9,         2e9,    3e9,    -3e9,  1e19,
                                      -1e19, 1e-40,    65504.0,   65520.0,      1e38,   -1e38,  1e300, NAN,
                                      -NAN,  INFINITY, -INFINITY, 2147483520.0, 0x1p31, -0x1p31};
  for (const DType from : kTypes)
    for (const DType target : kTypes)
      visit_dtype(from, [&]<class From>() {
        visit_dtype(target, [&]<class To>() {
          From elements[100];
          To row[100];
          for (size_t i = 0; i < 100; ++i) elements[i] = convert<From>(values[i % values.size()]);
          for (const int64_t count : {1, 7, 29, 100}) {
            convert_row(target, from)(elements, row, count);
            for (int64_t i = 0; i < count; ++i) {
              const To one = convert<To>(elements[i]);
              const double got = convert<double>(row[i]), expected = convert<double>(one);
              const bool alike = std::isnan(expected) ? std::isnan(got) : got == expected;
              CHECK_MESSAGE(alike, dtype_name(from) << " to " << dtype_name(target) << ": " << got
                                                    << ", expected " << expected);
            }
          }
        });
      });
}

TEST_CASE("fmod is exact for quotients of any magnitude") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::vector<double> a, b;
    for (size_t i = 0; i < 200000; ++i) {
      const PhiloxBlock words = philox(77, 0, i);
      const int spread = i % 3 ? 20 : 100;  // of the exponents
      const auto make = [&](uint32_t mantissa, uint32_t exponent) {
        const double value =
            std::ldexp(1 + mantissa * 0x1p-32, int(exponent % uint32_t(spread)) - spread / 2);
        const double signed_value = mantissa & 1 ? -value : value;
        return dtype == DType::f32 ? double(float(signed_value)) : signed_value;
      };
      a.push_back(make(words[0], words[1]));
      b.push_back(i % 7 == 0 ? a.back() / 3 : make(words[2], words[3]));
      if (dtype == DType::f32) b.back() = double(float(b.back()));
    }
    for (const double x : {0.0, -0.0, 5.0, double(INFINITY), double(NAN), 1e-40, -3e-45})
      for (const double y : {0.0, -2.0, double(INFINITY), double(NAN), 1e-40, 3e-45}) {
        a.push_back(dtype == DType::f32 ? double(float(x)) : x);
        b.push_back(dtype == DType::f32 ? double(float(y)) : y);
      }
    const Shape shape{int64_t(a.size())};
    const std::vector<double> got =
        fmod(to(Tensor::from<double>(a, shape), dtype), to(Tensor::from<double>(b, shape), dtype))
            .to_vector<double>();
    size_t wrong = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double expected = std::fmod(a[i], b[i]);
      wrong += std::isnan(expected) ? !std::isnan(got[i])
                                    : got[i] != expected || std::signbit(got[i]) != std::signbit(expected);
    }
    CHECK(wrong == 0);
  }
}
