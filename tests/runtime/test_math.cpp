// The functions of cpu/math.h on every SIMD target of this processor, against the standard library in a wider
// type: special values, and random values, half with uniform bits and half uniform in the range of interest.
// LUNAGRAD_TEST_ALL=1 uses 2^24 random values per function instead of 2^20 (f32) and 2^16 (f64).
#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

using namespace lunagrad;

namespace {

// Runs f once for each SIMD target, with that target selected.
template <class F>
void for_each_target(F&& f) {
  const auto supported = hwy::SupportedTargets();
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_SCALAR}) {
    if (!(supported & HWY_TARGETS & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    f(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

bool test_all() {
  const char* value = std::getenv("LUNAGRAD_TEST_ALL");
  return value && std::strcmp(value, "1") == 0;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           Limits::denorm_min(),
                           3 * Limits::denorm_min(),
                           Limits::min() / 2,
                           Limits::min(),
                           Limits::epsilon() / 4,
                           Limits::epsilon(),
                           T(1e-38),
                           T(1e38),
                           T(8191),
                           T(8193),
                           T(1048575),
                           T(1048577),
                           T(1e9),
                           T(88.7228),
                           T(88.7229),
                           T(103.97),
                           T(709.78),
                           T(745.13),
                           Limits::max(),
                           Limits::infinity()};
  for (int half = 1; half <= 128; ++half) values.push_back(T(half) / 2);
  for (double angle = 1; angle < 1e7; angle *= 3) values.push_back(T(angle * 1.5707963267948966));
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) {
    values.push_back(std::nextafter(values[i], Limits::infinity()));
    values.push_back(std::nextafter(values[i], T(0)));
  }
  for (size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <class T>
T random_bits(std::mt19937_64& random) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const Bits bits = Bits(random());
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::vector<T> inputs(double lo, double hi, uint64_t seed) {
  std::vector<T> values = special_values<T>();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(lo, hi);
  const int count = 1 << (test_all() ? 24 : sizeof(T) == 4 ? 20 : 16);
  for (int i = 0; i < count; ++i) values.push_back(i % 2 ? T(uniform(random)) : random_bits<T>(random));
  return values;
}

// The error of `got` in ULP of T at the exact result. 0 if both are NaN or equal; infinite if only one is
// NaN, or only one is infinite and the other is not at the end of the range.
template <class T, class Wide>
double ulps(T got, Wide exact) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : INFINITY;
  const T nearest = T(exact);
  if (got == nearest) return 0;
  if (std::isinf(got) || std::isinf(nearest)) {
    const T finite = std::isinf(got) ? nearest : got;
    const bool at_the_end = std::fabs(finite) >= std::nextafter(std::numeric_limits<T>::max(), T(0));
    return at_the_end && std::signbit(got) == std::signbit(nearest) ? 1 : INFINITY;
  }
  int exponent;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return double(std::fabs(Wide(got) - exact) /
                std::ldexp(Wide(1), exponent - std::numeric_limits<T>::digits));
}

template <class T>
void run_row(Row row, const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& out) {
  const Stretch stretch{{a.data(), b.data()}, {1, 1}, out.data(), int64_t(a.size()), nullptr};
  row_kernels(int(row)).value[sizeof(T) == 8](stretch);
}

template <class T, class Wide>
void check(const char* name, Row row, const std::vector<T>& a, const std::vector<T>& b,
           const std::function<Wide(Wide, Wide)>& exact, double bound) {
  std::vector<Wide> wanted(a.size());
  parallel_for(int64_t(a.size()), 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) wanted[i] = exact(Wide(a[i]), Wide(b[i]));
  });
  for_each_target([&](const char* target) {
    std::vector<T> out(a.size());
    run_row(row, a, b, out);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double error = ulps<T, Wide>(out[i], wanted[i]);
      if (error > worst) worst = error, where = i;
    }
    CAPTURE(name);
    CAPTURE(target);
    CAPTURE(sizeof(T));
    CAPTURE(a[where]);
    CAPTURE(b[where]);
    CAPTURE(out[where]);
    CAPTURE(double(wanted[where]));
    CHECK(worst <= bound);
    if (std::getenv("LUNAGRAD_TEST_PRINT"))
      MESSAGE(std::string(name) << " " << std::string(target) << " f" << 8 * sizeof(T) << ": " << worst
                                << " ulp at " << a[where] << ", " << b[where]);
  });
}

}  // namespace

#define FUNCTION(row, lo, hi, bound32, bound64, formula)                                             \
  SUBCASE(#row) {                                                                                    \
    const auto exact = [](auto x, [[maybe_unused]] auto y) {                                         \
      using std::sqrt, std::exp, std::exp2, std::expm1, std::log, std::log1p, std::log2, std::log10; \
      using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::atan2, std::sinh;    \
      using std::cosh, std::tanh, std::asinh, std::acosh, std::atanh, std::erf, std::pow, std::fmod; \
      return formula;                                                                                \
    };                                                                                               \
    const auto a32 = inputs<float>(lo, hi, 1);                                                       \
    auto b32 = inputs<float>(lo, hi, 2);                                                             \
    std::rotate(b32.begin(), b32.begin() + 17, b32.end());                                           \
    check<float, double>(#row, Row::row, a32, b32, exact, bound32);                                  \
    const auto a64 = inputs<double>(lo, hi, 3);                                                      \
    auto b64 = inputs<double>(lo, hi, 4);                                                            \
    std::rotate(b64.begin(), b64.begin() + 17, b64.end());                                           \
    check<double, long double>(#row, Row::row, a64, b64, exact, bound64);                            \
  }

// Largest errors in ULP, f32 and f64; a correctly rounded result has an error of at most 0.5.
TEST_CASE("functions of one variable are within their error bounds on every SIMD target"){
    FUNCTION(sqrt, 0, 10, 0.5, 0.501, sqrt(x)) FUNCTION(exp, -20, 20, 1.5, 1, exp(x))
        FUNCTION(exp2, -20, 20, 1, 1, exp2(x)) FUNCTION(expm1, -5, 5, 2, 2, expm1(x))
            FUNCTION(log, 0, 10, 1, 1, log(x)) FUNCTION(log1p, -1, 5, 1, 1, log1p(x))
                FUNCTION(log2, 0, 10, 1, 1, log2(x)) FUNCTION(log10, 0, 10, 2, 2, log10(x))
                    FUNCTION(sin, -100, 100, 1.5, 1.5, sin(x)) FUNCTION(cos, -100, 100, 1.5, 1.5, cos(x))
                        FUNCTION(tan, -10, 10, 1, 1, tan(x)) FUNCTION(asin, -1, 1, 1, 1, asin(x))
                            FUNCTION(acos, -1, 1, 1, 1, acos(x)) FUNCTION(atan, -10, 10, 1, 1, atan(x))
                                FUNCTION(sinh, -10, 10, 2.5, 2.5, sinh(x))
                                    FUNCTION(cosh, -10, 10, 2, 2, cosh(x))
                                        FUNCTION(tanh, -5, 5, 2.5, 2.5, tanh(x)) FUNCTION(asinh, -10, 10, 2,
                                                                                          2, asinh(x))
                                            FUNCTION(acosh, 1, 10, 2, 2, acosh(x)) FUNCTION(atanh, -1, 1, 2,
                                                                                            2, atanh(x))
                                                FUNCTION(erf, -4, 4, 1.5, 1.5, erf(x))
                                                    FUNCTION(sigmoid, -20, 20, 2.5, 2.5, 1 / (1 + exp(-x)))}

TEST_CASE("functions of two variables are within their error bounds on every SIMD target") {
  FUNCTION(pow, 0, 5, 1, 1, pow(x, y))
  FUNCTION(atan2, -5, 5, 2, 2, atan2(x, y))
  FUNCTION(fmod, -5, 5, 0, 0, fmod(x, y))
}

#undef FUNCTION
