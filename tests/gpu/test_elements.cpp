// Elementwise kernels at extreme arguments, conversions and integers on the Vulkan device.
#include <set>

#include "runtime/elementwise/elementwise.h"
#include "tests/gpu/compare.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

// The largest factor by which a flushed subnormal number is multiplied.
double size_of(double x) { return std::clamp(std::abs(x), 1.0, 1e4); }

TEST_CASE("elementwise kernels are accurate at extreme arguments") {
  const float nan = NAN, inf = INFINITY;
  const std::vector<float> edges = {
      0.0f,  -0.0f,  1.0f,       -1.0f, 0.5f,   -0.5f,   1.5f,     -1.5f, 2.5f,   -2.5f,      nan,     inf,
      -inf,  1e-30f, -1e-30f,    1e-4f, -1e-4f, 3e38f,   -3e38f,   88.0f, -88.0f, 100.0f,     -100.0f, 1e5f,
      -1e5f, 1e10f,  12345.678f, 3.0f,  -3.0f,  0.9999f, -0.9999f, 20.0f, -20.0f, 8388609.0f, 2.0f,    -7.0f};
  const double lost = has_denormals() ? 0 : 0x1p-126;  // at each step of a formula
  // sinc is here because pi x is rounded, and logaddexp2 because it passes 0: there the error is absolute.
  const std::set<Row> cancels = {Row::lerp,       Row::addcmul, Row::addcdiv,   Row::affine,
                                 Row::tanhshrink, Row::gelu,    Row::hardswish, Row::mish,
                                 Row::_bce,       Row::sinc,    Row::logaddexp2};
  for (int row = 0; row < kRowCount; ++row) {
    const Op& op = elementwise_op(Row(row));
    const RowTraits& traits = row_traits(row);
    if (traits.types == RowTypes::kinteger) continue;
    std::vector<float> operands[3];
    const size_t n = edges.size();
    for (size_t i = 0; i < n * n; ++i) {
      if (traits.arity == 1 && i >= n) break;
      operands[0].push_back(edges[i % n]);
      operands[1].push_back(edges[i / n]);
      operands[2].push_back(edges[(3 * i + 1) % n]);
    }
    const Shape shape = {int64_t(operands[0].size())};
    TensorList inputs;
    for (int i = 0; i < traits.arity; ++i) inputs.push_back(Tensor::from<float>(operands[i], shape, gpu()));
    if (Row(row) == Row::where) inputs[0] = isnan(inputs[0]);
    Sample sample{op.name, {}};
    for (const ParamSpec& spec : op.params)
      sample.params.push_back(spec.fallback.present() ? spec.fallback : Value(0.5));
    const Values params = complete(op, sample.params);
    const NoGrad off;
    const std::vector<double> got = apply1(op, inputs, params).to_vector<double>();
    // Where float arithmetic itself overflows or cancels, the CPU's float result is accepted too.
    TensorList here;
    for (const Tensor& x : inputs) here.push_back(to(x, cpu_device()));
    const std::vector<double> in_float = apply1(op, here, params).to_vector<double>();
    int wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      double x[3];
      for (int k = 0; k < traits.arity; ++k) x[k] = double(operands[k][i]);
      if (Row(row) == Row::where) x[0] = std::isnan(operands[0][i]);
      const double exact =
          reference_value(op, std::span(x, size_t(traits.arity)), {params.data(), params.size()});
      const double rounded = double(float(exact));
      // The error of rows that add numbers of opposite signs, or overflow in between, is relative to their
      // terms.
      double bound = 4e-6 * std::abs(rounded) + 1e-37 + lost * size_of(x[0]);
      if (cancels.contains(Row(row))) {
        double product = 1;
        for (int k = 0; k < traits.arity; ++k)
          product *= std::max(
              1.0, std::max(std::abs(x[k]), Row(row) == Row::addcdiv && k == 2 ? 1 / std::abs(x[k]) : 0.0));
        if (!(product < 1e37)) continue;
        bound = 4e-6 * product;
      }
      const auto close = [&](double value) {
        return std::isnan(value) ? std::isnan(got[i]) : got[i] == value || std::abs(got[i] - value) <= bound;
      };
      const bool same = close(rounded) || close(in_float[i]);
      if (!same && ++wrong <= 3)
        CHECK_MESSAGE(same, std::string(op.name) << "(" << x[0] << ", " << (traits.arity > 1 ? x[1] : 0)
                                                 << ") = " << got[i] << ", expected " << rounded);
    }
    CHECK_MESSAGE(wrong == 0, std::string(op.name) << ": " << wrong << " of " << got.size());
  }
}

TEST_CASE(
    "functions made of exponentials and logarithms keep their relative precision from the smallest number to "
    "the largest") {
  std::vector<float> points = {0.0f, -0.0f, INFINITY, -INFINITY, NAN};
  for (int e = -149; e <= 127; ++e)
    for (const double m : {1.0, 1.2345, 1.5, 1.99})
      for (const int sign : {-1, 1}) points.push_back(float(sign * std::ldexp(m, e)));
  for (int i = -5000; i <= 5000; ++i) points.push_back(float(i) * 0.00413f);
  const double lost = has_denormals() ? 0 : 0x1p-126;  // at each step of a formula
  const NoGrad off;
  const Tensor x = Tensor::from<float>(points, {int64_t(points.size())}, gpu());
  for (const auto& [row, precision] : std::initializer_list<std::pair<Row, double>>{{Row::exp, 3e-7},
                                                                                    {Row::tanh, 3e-7},
                                                                                    {Row::erf, 3e-7},
                                                                                    {Row::sigmoid, 3e-7},
                                                                                    {Row::silu, 3e-7},
                                                                                    {Row::gelu, 3e-7},
                                                                                    {Row::log1p, 3e-7},
                                                                                    {Row::log, 3e-7},
                                                                                    {Row::softplus, 3e-7},
                                                                                    {Row::asinh, 3e-7},
                                                                                    {Row::acosh, 3e-7},
                                                                                    {Row::atanh, 3e-7},
                                                                                    {Row::logsigmoid, 3e-7},
                                                                                    {Row::acos, 3e-7},
                                                                                    {Row::erfc, 6e-7},
                                                                                    {Row::log_ndtr, 6e-7}}) {
    const Op& op = elementwise_op(row);
    const Values params = complete(op, {});
    const std::vector<float> got = apply1(op, {x}, params).to_vector<float>();
    int wrong = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const double at = double(points[i]);
      const double exact = reference_value(op, std::span(&at, 1), {params.data(), params.size()});
      // The relative error of an exponential is the absolute error of its argument.
      const double steep = row == Row::gelu && at < 0 ? at * at / 2 : row == Row::silu && at < 0 ? -at : 0;
      const double bound =
          (precision + 1e-7 * std::min(steep, 1e3)) * std::abs(exact) + 1.2e-38 + lost * size_of(at);
      const bool same = std::isnan(exact)
                            ? std::isnan(got[i])
                            : double(got[i]) == double(float(exact)) || std::abs(got[i] - exact) <= bound;
      const bool odd = row == Row::tanh || row == Row::erf;
      const bool right =
          same && (!odd || std::isnan(exact) || std::signbit(got[i]) == std::signbit(points[i]));
      if (!right && ++wrong <= 3)
        CHECK_MESSAGE(right, std::string(op.name) << "(" << at << ") = " << got[i] << ", expected " << exact);
    }
    CHECK_MESSAGE(wrong == 0, std::string(op.name) << ": " << wrong << " of " << got.size());
  }
}

TEST_CASE("elements are converted between all types as on the CPU") {
  const NoGrad off;
  const std::vector<float> values = {0,      1,   -1,       2.5f,      -2.5f, 300,   -300,  1e10f,
                                     -1e10f, NAN, INFINITY, -INFINITY, 65519, 65520, 1e-7f, 3.14159f};
  const Tensor source = Tensor::from<float>(values, {4, 4});
  const DType types[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                         DType::f16,     DType::bf16, DType::f32, DType::f64};
  for (const DType from : types)
    for (const DType to_type : types) {
      const Tensor here = to(source, from);
      const Tensor expected = to(here, to_type);
      CHECK_MESSAGE(distance(to(to(here, gpu()), to_type), expected) == 0,
                    "from " << from << " to " << to_type);
      const Tensor turned = transpose(to(here, gpu()), 0, 1);
      CHECK_MESSAGE(distance(to(turned, to_type), transpose(expected, 0, 1)) == 0,
                    "transposed, from " << from << " to " << to_type);
    }
}

TEST_CASE("operations mix 16-bit and 32-bit floats, at any address and of any count") {
  const NoGrad off;
  const DType types[] = {DType::f16, DType::bf16, DType::f32};
  for (const int64_t count : {1, 1023, 1024, 4100})
    for (const int64_t begin : {0, 2, 4})
      for (const DType left : types)
        for (const DType right : types) {
          const Tensor a = to(random({count + begin}, 1), left), b = to(random({count + begin}, 2), right);
          const auto part = [&](const Tensor& x, Device& device) {
            return narrow(to(x, device), 0, begin, count);
          };
          const Tensor sum = part(a, cpu_device()) + part(b, cpu_device());
          CHECK_MESSAGE(distance(part(a, gpu()) + part(b, gpu()), sum) == 0,
                        left << " and " << right << ", " << count);
          CHECK(distance(to(part(a, gpu()), right), to(part(a, cpu_device()), right)) == 0);
          CHECK(distance(clone(part(a, gpu())), part(a, cpu_device())) == 0);
        }
  for (const DType type : types) {
    const Tensor x = to(random({4096}, 3), type), exact = to(gelu(to(x, DType::f64)), type);
    CHECK(distance(gelu(to(x, gpu())), exact) <= (type == DType::f32   ? 3e-7
                                                  : type == DType::f16 ? 1e-3
                                                                       : 8e-3));
  }
}

TEST_CASE("operands that are broadcast or apart are read in vectors where they have them") {
  const NoGrad off;
  for (const DType type : {DType::f32, DType::bf16}) {
    const auto operands = [&](Device& device) {
      const auto made = [&](const Shape& shape, uint64_t stream) {
        return to(to(random(shape, stream), type), device);
      };
      const Tensor wide = made({6, 5, 71}, 1), even = made({6, 5, 72}, 2);
      return TensorList{made({6, 5, 64}, 3),
                        made({64}, 4),
                        made({5, 1}, 5),
                        made({6, 1, 64}, 6),
                        made({1}, 7),
                        narrow(wide, 2, 4, 64),
                        narrow(even, 2, 4, 64),
                        narrow(even, 2, 3, 64),
                        transpose(made({64, 5, 6}, 8), 0, 2),
                        narrow(made({6, 9, 64}, 9), 1, 2, 5)};
    };
    const TensorList here = operands(cpu_device()), there = operands(gpu());
    for (size_t i = 0; i < here.size(); ++i)
      for (size_t k = 0; k < here.size(); ++k) {
        CHECK_MESSAGE(distance(there[i] * there[k], here[i] * here[k]) == 0, type << ' ' << i << ' ' << k);
        CHECK(distance(addcmul(there[k], there[i], there[0]), addcmul(here[k], here[i], here[0])) <
              (type == DType::f32 ? 1e-6 : 1e-2));
      }
    // In place, where the elements of a row lie together and where they do not.
    for (size_t i = 5; i < here.size(); ++i)
      for (const size_t k : {0, 1, 2}) {
        const TensorList fresh = operands(gpu());
        apply_in_place(*find_op("add"), {fresh[i], there[k]});
        CHECK_MESSAGE(distance(fresh[i], here[i] + here[k]) == 0, type << ' ' << i << ' ' << k);
      }
  }
}

TEST_CASE("copies between layouts with different innermost dims") {
  const NoGrad off;
  for (const Shape& shape : {Shape{100, 70}, Shape{64, 64}, Shape{100, 132}, Shape{2, 68, 3, 20},
                             Shape{3, 65, 130}, Shape{2, 17, 3, 40}, Shape{200, 15}})
    for (const DType type : {DType::boolean, DType::u8, DType::f16, DType::i32, DType::f32, DType::i64}) {
      const Tensor here = to(random(shape, 9) * 50, type), there = to(here, gpu());
      for (int d = 0; d + 1 < here.ndim(); ++d) {
        CHECK(distance(to(contiguous(transpose(there, d, -1)), cpu_device()),
                       contiguous(transpose(here, d, -1))) == 0);
        CHECK(distance(to(transpose(there, d, -1), DType::f32), to(transpose(here, d, -1), DType::f32)) == 0);
      }
    }
  // The same sizes and strides at an address that is not a multiple of 16 bytes.
  const Tensor here = slice(random({64, 136}, 8), 1, 1, 133, 1),
               there = slice(to(random({64, 136}, 8), gpu()), 1, 1, 133, 1);
  CHECK(distance(to(contiguous(transpose(there, 0, 1)), cpu_device()), contiguous(transpose(here, 0, 1))) ==
        0);
}

TEST_CASE("integers are computed as integers") {
  const NoGrad off;
  const std::vector<int64_t> a = {7, -7, 7, -7, 0, int64_t(1) << 40, 5, 3}, b = {2, 2, -2, -2, 3, 3, 5, -1};
  for (const DType type : {DType::i32, DType::i64}) {
    const Tensor x = to(Tensor::from<int64_t>(a, {8}), type), y = to(Tensor::from<int64_t>(b, {8}), type);
    for (const Row row : {Row::add,
                          Row::sub,
                          Row::mul,
                          Row::floor_divide,
                          Row::remainder,
                          Row::fmod,
                          Row::maximum,
                          Row::minimum,
                          Row::eq,
                          Row::lt,
                          Row::ge,
                          Row::div,
                          Row::gcd,
                          Row::lcm,
                          Row::bitwise_and,
                          Row::bitwise_or,
                          Row::bitwise_xor,
                          Row::bitwise_left_shift,
                          Row::bitwise_right_shift,
                          Row::heaviside,
                          Row::fmax,
                          Row::fmin,
                          Row::signbit}) {
      const Op& op = elementwise_op(row);
      const Tensor expected = apply1(op, {x, y}), got = apply1(op, {to(x, gpu()), to(y, gpu())});
      CHECK(got.dtype() == expected.dtype());
      CHECK_MESSAGE(distance(got, expected) == 0, std::string(op.name) << " of " << type);
    }
  }
}

TEST_CASE("parts of numbers, their neighbours and polar numbers equal the CPU's") {
  const NoGrad off;
  const Fallbacks fallbacks;
  std::vector<float> edges = {0.0f,  -0.0f, 1,      -1,  0.5f,     3e38f,    -3e38f,
                              65504, 6e-8f, -6e-8f, NAN, INFINITY, -INFINITY};
  for (int e = -149; e <= 127; ++e) edges.push_back(std::ldexp(e % 2 ? 1.5f : -1.0f, e));
  const int64_t n = int64_t(edges.size());
  const Tensor line = Tensor::from<float>(edges, {n, 1}), grid = expand(line, {n, n});
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor x = to(grid, type), y = to(transpose(grid, 0, 1), type);
    const Tensor next = apply1(*find_op("nextafter"), {to(x, gpu()), to(y, gpu())});
    CHECK_MESSAGE(words(next) == words(apply1(*find_op("nextafter"), {x, y})), "nextafter of " << type);
    CHECK(words(apply1(*find_op("nextafter"), {next, to(y, gpu())})) ==
          words(apply1(*find_op("nextafter"), {to(next, cpu_device()), y})));
    const Operands here = apply(*find_op("frexp"), {y}), there = apply(*find_op("frexp"), {to(y, gpu())});
    for (const size_t i : {0, 1}) CHECK_MESSAGE(words(there[i]) == words(here[i]), "frexp of " << type);
  }
  const Tensor size = random({3001}, 4), angle = random({2, 1}, 5, -9, 9);
  for (const Tensor& x : {size, slice(size, 0, 1, 3000, 2)})
    CHECK(distance(apply1(*find_op("polar"), {to(x, gpu()), to(angle, gpu())}),
                   apply1(*find_op("polar"), {x, angle})) < 1e-6);
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("remainders of numbers far apart are exact, and divisors of wide integers are found") {
  const NoGrad off;
  std::vector<float> numbers;
  for (int e = -149; e <= 127; e += 3)
    for (const double m : {1.0, 1.1, -1.37, 1.9999}) numbers.push_back(float(std::ldexp(m, e)));
  const int64_t n = int64_t(numbers.size());
  const Tensor x = expand(Tensor::from<float>(numbers, {n, 1}), {n, n}), y = transpose(x, 0, 1);
  if (has_denormals())
    for (const Row row : {Row::fmod, Row::remainder, Row::floor_divide})
      CHECK(words(apply1(elementwise_op(row), {to(x, gpu()), to(y, gpu())})) ==
            words(apply1(elementwise_op(row), {x, y})));
  const std::vector<int64_t> whole = {0,
                                      1,
                                      -6,
                                      48,
                                      1 << 30,
                                      int64_t(3) << 31,
                                      int64_t(9) << 40,
                                      -int64_t(15) << 50,
                                      INT32_MIN,
                                      INT64_MIN + 1,
                                      999999937};
  const int64_t count = int64_t(whole.size());
  const Tensor a = expand(Tensor::from<int64_t>(whole, {count, 1}), {count, count}), b = transpose(a, 0, 1);
  for (const Row row : {Row::gcd, Row::lcm})
    CHECK(words(apply1(elementwise_op(row), {to(a, gpu()), to(b, gpu())})) ==
          words(apply1(elementwise_op(row), {a, b})));
  const Tensor divisor = where(eq(b, Tensor::number(int64_t(0))), Tensor::number(int64_t(-1)), b);
  for (const Row row : {Row::floor_divide, Row::remainder, Row::fmod})
    CHECK(words(apply1(elementwise_op(row), {to(a, gpu()), to(divisor, gpu())})) ==
          words(apply1(elementwise_op(row), {a, divisor})));
}

}  // namespace
}  // namespace lunagrad::tests
