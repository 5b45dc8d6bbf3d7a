// Complex numbers: functions against the standard library, very large and very small magnitudes, branch cuts,
// views of the real and imaginary parts, and gradients as users see them. Tests of each op: the sample table.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "runtime/ops.h"
#include "runtime/tape/custom.h"
#include "runtime/tape/grad_store.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"

namespace lunagrad::tests {
namespace {

using C = std::complex<double>;
using L = std::complex<long double>;

Tensor tensor(const std::vector<C>& values, DType dtype = DType::c128) {
  return to(Tensor::from<C>(std::span<const C>(values), {int64_t(values.size())}), dtype);
}
std::vector<C> complex_values(const Tensor& x) { return to(x, DType::c128).to_vector<C>(); }
C only(const Tensor& x) { return complex_values(x).at(0); }

std::vector<C> random_numbers(size_t n, double size) {
  std::vector<C> values;
  for (uint64_t i = 0; i < n; ++i) {
    const PhiloxBlock words = philox(7, 3, i);
    values.push_back(size *
                     C(2 * uniform_f64(words[0], words[1]) - 1, 2 * uniform_f64(words[2], words[3]) - 1));
  }
  return values;
}

TEST_CASE("complex functions agree with the standard library") {
  using Function = C (*)(const C&);
  const std::vector<C> values = random_numbers(1001, 4);
  const auto check = [&](const char* name, Tensor (*ours)(const Tensor&), Function theirs) {
    for (const DType dtype : {DType::c128, DType::c64}) {
      const Tensor x = tensor(values, dtype);
      const std::vector<C> in = complex_values(x), got = complex_values(ours(x));
      for (size_t i = 0; i < in.size(); ++i) {
        const C expected = theirs(in[i]);
        const double bound = (dtype == DType::c128 ? 4e-15 : 3e-6) * (1 + std::abs(expected));
        REQUIRE_MESSAGE(std::abs(got[i] - expected) <= bound, name, " of ", in[i].real(), " + ", in[i].imag(),
                        "i: ", got[i].real(), " + ", got[i].imag(), "i");
      }
    }
  };
  check("sqrt", sqrt, [](const C& z) { return std::sqrt(z); });
  check("exp", exp, [](const C& z) { return std::exp(z); });
  check("log", log, [](const C& z) { return std::log(z); });
  check("log2", log2, [](const C& z) { return std::log(z) / std::log(2.0); });
  check("log10", log10, [](const C& z) { return std::log10(z); });
  check("sin", sin, [](const C& z) { return std::sin(z); });
  check("cos", cos, [](const C& z) { return std::cos(z); });
  check("sinh", sinh, [](const C& z) { return std::sinh(z); });
  check("cosh", cosh, [](const C& z) { return std::cosh(z); });
  check("square", square, [](const C& z) { return z * z; });
  check("reciprocal", reciprocal, [](const C& z) { return 1.0 / z; });
  check("rsqrt", rsqrt, [](const C& z) { return 1.0 / std::sqrt(z); });
  check("conj", conj, [](const C& z) { return std::conj(z); });
  check("neg", neg, [](const C& z) { return -z; });
  for (const DType dtype : {DType::c128, DType::c64}) {
    const double bound = dtype == DType::c128 ? 1e-14 : 1e-5;
    const Tensor x = tensor(values, dtype);
    const std::vector<C> in = complex_values(x), tangent = complex_values(tan(x)),
                         hyperbolic = complex_values(tanh(x)), logistic = complex_values(sigmoid(x));
    for (size_t i = 0; i < in.size(); ++i) {  // errors grow near the poles
      const C t = std::tan(in[i]), h = std::tanh(in[i]), s = 1.0 / (1.0 + std::exp(-in[i]));
      CHECK(std::abs(tangent[i] - t) <= bound * (1 + std::norm(t)));
      CHECK(std::abs(hyperbolic[i] - h) <= bound * (1 + std::norm(h)));
      CHECK(std::abs(logistic[i] - s) <= bound * (1 + std::norm(s)));
    }
  }
}

TEST_CASE(
    "complex arithmetic of two operands agrees with the standard library, broadcast and in any layout") {
  const std::vector<C> a = random_numbers(60, 2);
  std::vector<C> b = random_numbers(73, 2);
  b.erase(b.begin(), b.begin() + 13);
  const Tensor x = transpose(reshape(tensor(a), {12, 5}), 0, 1), y = reshape(tensor(b), {5, 12});
  const auto at = [](const Tensor& z, int64_t i, int64_t j) {
    return only(reshape(select(select(z, 0, i), 0, j), {1}));
  };
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 12; ++j) {
      const C p = a[size_t(j * 5 + i)], q = b[size_t(i * 12 + j)];
      CHECK(at(x + y, i, j) == p + q);
      CHECK(at(x - y, i, j) == p - q);
      CHECK(std::abs(at(x * y, i, j) - p * q) < 1e-15 * (1 + std::abs(p * q)));
      CHECK(std::abs(at(x / y, i, j) - p / q) < 1e-15 * (1 + std::abs(p / q)));
      CHECK(std::abs(at(pow(x, y), i, j) - std::pow(p, q)) < 1e-13 * (1 + std::abs(std::pow(p, q))));
    }
}

// Error relative to the magnitude.
double relative_error(C got, L expected) {
  return double(std::abs(L(got) - expected) /
                std::max(std::abs(expected), std::numeric_limits<long double>::min()));
}

TEST_CASE("quotients, absolute values, roots and logarithms overflow or underflow only if the result does") {
  std::vector<C> values;
  for (const double size : {1e-300, 1e-200, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e200, 1e300})
    for (const C& z : random_numbers(7, 1)) values.push_back(size * z);
  for (const C& z : {C(1e300, 1e-300), C(1e-300, 1e300), C(-1e308, 1e308), C(3e-320, 1e-320), C(0, 1e-310)})
    values.push_back(z);
  const Tensor x = tensor(values);
  const std::vector<C> sizes = complex_values(to(abs(x), DType::c128)), roots = complex_values(sqrt(x)),
                       logs = complex_values(log(x));
  for (size_t i = 0; i < values.size(); ++i) {
    const double loose = std::abs(values[i].real()) + std::abs(values[i].imag()) < 1e-300 ? 1e-2 : 4e-16;
    CHECK(relative_error(sizes[i], std::abs(L(values[i]))) < loose);
    CHECK(relative_error(roots[i], std::sqrt(L(values[i]))) < 1e-15);
    CHECK(relative_error(logs[i], std::log(L(values[i]))) < 2e-15);
  }
  for (const C& divisor : values) {
    const std::vector<C> quotients = complex_values(x / tensor({divisor}));
    for (size_t i = 0; i < values.size(); ++i) {
      const L expected = L(values[i]) / L(divisor);
      if (std::abs(expected) > 1e307L || std::abs(expected) < 1e-290L) continue;
      REQUIRE_MESSAGE(relative_error(quotients[i], expected) < 2e-15, values[i].real(), " + ",
                      values[i].imag(), "i over ", divisor.real(), " + ", divisor.imag(), "i");
    }
  }
  const Tensor wide = tensor({{3e38, 3e38}, {1e-38, 1e-38}, {1e30, 1e30}}, DType::c64);
  const std::vector<C> one = complex_values(wide / wide);
  for (const C& z : one) CHECK(std::abs(z - 1.0) < 1e-6);
  CHECK(abs(wide).to_vector<double>()[1] == doctest::Approx(std::sqrt(2.0) * 1e-38).epsilon(1e-6));
  CHECK(abs(wide).to_vector<double>()[2] == doctest::Approx(std::sqrt(2.0) * 1e30).epsilon(1e-6));
  CHECK(abs(tensor({{3e-44, 4e-44}}, DType::c64)).to_vector<double>()[0] ==
        doctest::Approx(5e-44).epsilon(0.05));
  CHECK(only(tensor({{1e151, 0}}) / tensor({{1e-151, 1e-151}})).real() ==
        doctest::Approx(5e301).epsilon(1e-12));
  CHECK(only(exp(tensor({{709.9, 1.5707963}}))).real() ==
        doctest::Approx(std::exp(C(709.9, 1.5707963)).real()));
}

bool same_value(double a, double b) {
  return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
}
bool same_value(C a, C b) { return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag()); }

TEST_CASE("branch cuts, signed zeros, infinities and NaN follow C99") {
  for (const DType dtype : {DType::c128, DType::c64}) {
    const auto at = [&](Tensor (*f)(const Tensor&), C z) { return only(f(tensor({z}, dtype))); };
    for (const double side : {0.0, -0.0}) {
      CHECK(same_value(at(sqrt, {-4, side}), {0, std::copysign(2.0, side)}));
      CHECK(same_value(at(sqrt, {0, side}), {0, side}));
      CHECK(same_value(at(sqrt, {4, side}), {2, side}));
      CHECK(at(log, {-1, side}).imag() == doctest::Approx(std::copysign(M_PI, side)));
      CHECK(same_value(at(log, {1, side}), {0, side}));
      CHECK(only(angle(tensor({{-1, side}}, dtype))).real() == doctest::Approx(std::copysign(M_PI, side)));
      CHECK(same_value(at(exp, {0, side}), {1, side}));
      CHECK(same_value(at(sin, {0, side}), {0, side}));
    }
    CHECK(at(log, {0, 0}).real() == -kInf);
    CHECK(same_value(at(sqrt, {1, kInf}), {kInf, kInf}));
    CHECK(same_value(at(sqrt, {kNaN, -kInf}), {kInf, -kInf}));
    CHECK(same_value(at(sqrt, {-kInf, 1}), {0, kInf}));
    CHECK(same_value(at(exp, {-kInf, kNaN}), {0, 0}));
    CHECK(same_value(at(exp, {kInf, 0}), {kInf, 0}));
    CHECK(only(abs(tensor({{kNaN, -kInf}}, dtype))).real() == kInf);
    CHECK(std::isnan(only(abs(tensor({{kNaN, 1}}, dtype))).real()));
    const Tensor one = tensor({{1, 1}}, dtype);
    CHECK(only(one / tensor({{kInf, -kInf}}, dtype)) == C(0, 0));
    CHECK(std::isinf(only(one / tensor({{0, 0}}, dtype)).real()));
    CHECK(std::isnan(only(one / tensor({{kNaN, 0}}, dtype)).real()));
    CHECK(only(pow(tensor({{0, 0}}, dtype), tensor({{0, 0}}, dtype))) == C(1, 0));
    CHECK(only(pow(tensor({{0, 0}}, dtype), tensor({{2, 1}}, dtype))) == C(0, 0));
    CHECK(only(pow(tensor({{3, 1}}, dtype), tensor({{2, 0}}, dtype))) == C(8, 6));
    CHECK(at(tanh, {400, 1}).real() == 1);
    CHECK(only(sigmoid(tensor({{-400, 1}}, dtype))).real() == doctest::Approx(0));
    CHECK(only(sigmoid(tensor({{400, 1}}, dtype))).real() == 1);
  }
}

TEST_CASE("complex numbers are copied, transposed and converted from every real type") {
  for (const DType target : {DType::c64, DType::c128}) {
    for (int from = 0; from <= int(DType::c128); ++from)
      for (const Shape& shape : {Shape{3, 4}, Shape{16, 16}, Shape{70, 41}}) {
        Tensor x = to(arange(0, double(numel(shape)), 1, DType::i32), DType(from));
        if (is_complex(DType(from))) x = x + x * tensor({{0, 0.5}}, DType(from));
        x = reshape(x, shape);
        const std::vector<C> elements = complex_values(x),
                             turned = complex_values(to(transpose(x, 0, 1), target));
        for (int64_t i = 0; i < shape[0]; ++i)
          for (int64_t j = 0; j < shape[1]; ++j)
            REQUIRE(turned[size_t(j * shape[0] + i)] == elements[size_t(i * shape[1] + j)]);
        const Tensor y = zeros(shape, target);
        copy_(transpose(y, 0, 1), contiguous(transpose(x, 0, 1)));
        CHECK(complex_values(y) == elements);
      }
  }
}

TEST_CASE("type promotion with complex types is PyTorch's") {
  const auto make = [](DType t) { return ones({2}, t); };
  const auto scalar = [](DType t) { return ones({}, t); };
  const auto type = [](const Tensor& a, const Tensor& b) { return (a + b).dtype(); };
  CHECK(type(make(DType::f64), make(DType::c64)) == DType::c128);
  CHECK(type(make(DType::f32), make(DType::c64)) == DType::c64);
  CHECK(type(make(DType::f16), make(DType::c64)) == DType::c64);
  CHECK(type(make(DType::i64), make(DType::c64)) == DType::c64);
  CHECK(type(make(DType::c64), make(DType::c128)) == DType::c128);
  CHECK(type(make(DType::c64), scalar(DType::f64)) == DType::c64);
  CHECK(type(make(DType::c64), scalar(DType::c128)) == DType::c64);
  CHECK(type(make(DType::f32), scalar(DType::c128)) == DType::c64);
  CHECK(type(make(DType::f64), scalar(DType::c64)) == DType::c128);
  CHECK(type(make(DType::i32), scalar(DType::c128)) == DType::c128);
  CHECK(type(make(DType::c64), Tensor::number(2.5)) == DType::c64);
  CHECK(abs(make(DType::c64)).dtype() == DType::f32);
  CHECK(norm_sq(make(DType::c128)).dtype() == DType::f64);
  CHECK(to(tensor({{0, 0}, {0, 2}}), DType::boolean).to_vector<double>() == std::vector<double>{0, 1});
  CHECK_THROWS_WITH(tensor({{1, 2}}).item(), doctest::Contains("item: a c128 element is no real number"));
  CHECK_THROWS_WITH(copy_(zeros({1}), tensor({{1, 2}})),
                    doctest::Contains("copy_: a c128 value cannot be written"));
  const Tensor real_target = ones({1});
  CHECK_THROWS_WITH(
      apply_in_place(*find_op("add"), {real_target, tensor({{1, 2}})}),
      doctest::Contains("add_: a result of type c128 cannot be written into a tensor of type f32"));
}

TEST_CASE("real and imaginary parts are views") {
  const Tensor z = tensor({{1, 2}, {3, 4}, {5, 6}});
  fill_(imag(z), 7);
  copy_(select(view_as_real(z), 0, 1), Tensor::from<double>(std::vector<double>{-1, -2}, {2}));
  CHECK(complex_values(z) == std::vector<C>{{1, 7}, {-1, -2}, {5, 7}});
  CHECK(real(z).strides() == Strides{2});
  CHECK(view_as_complex(view_as_real(z)).storage_ref() == z.storage_ref());
  const Tensor pairs = reshape(arange(0, 12, 1, DType::f32), {2, 3, 2});
  CHECK(complex_values(view_as_complex(select(pairs, 0, 1))) == std::vector<C>{{6, 7}, {8, 9}, {10, 11}});
  CHECK_THROWS_WITH(view_as_complex(transpose(ones({2, 2}), 0, 1)),
                    doctest::Contains("call contiguous() first"));
  CHECK_THROWS_WITH(view_as_complex(slice(ones({3}), 0, 1, 3)), doctest::Contains("offset 1"));
  Tensor x = tensor({{1, 2}});
  x.requires_grad_();
  const Tensor y = x * 2.0;
  CHECK_THROWS_WITH(fill_(real(y), 1),
                    doctest::Contains("a view of a c128 tensor as f64 cannot be changed in place"));
  CHECK_THROWS_WITH(fill_(real(x), 1), doctest::Contains("a view of a leaf"));
  const Tensor w = x * 2.0, part = real(w);
  copy_(w, x * 3.0);
  CHECK_THROWS_WITH(sum(part), doctest::Contains("take it anew"));
}

TEST_CASE("gradients of complex tensors are dL/dRe + i dL/dIm wherever users see them") {
  const std::vector<C> values = {{1, 2}, {-3, 0.5}};
  const std::vector<C> twice = {{2, 4}, {-6, 1}};
  Tensor z = tensor(values);
  z.requires_grad_();
  backward(sum(norm_sq(z)));
  CHECK(complex_values(z.grad()) == twice);
  backward(sum(norm_sq(z)));
  CHECK(complex_values(z.grad()) == std::vector<C>{{4, 8}, {-12, 2}});

  C seen;
  const Tensor y = z * 1.0;
  retain_grad(y);
  register_hook(y, [&](const Tensor& g) {
    seen = complex_values(g)[0];
    return g * 2.0;
  });
  CHECK(complex_values(grad({sum(norm_sq(y))}, {z})[0]) == std::vector<C>{{4, 8}, {-12, 2}});
  CHECK(seen == C(2, 4));
  CHECK(complex_values(y.grad())[0] == C(4, 8));
  CHECK(complex_values(gradients(sum(norm_sq(z))).get(z)) == twice);
  // w = i z has dw/dz = i: a gradient u of w is conj(i) u of z.
  const Tensor i = tensor({{0, 1}});
  CHECK(complex_values(grad({z * i}, {z}, {tensor({{1, 0}, {0, 1}})})[0]) == std::vector<C>{{0, -1}, {1, 0}});

  const CustomOp doubled{custom_record("doubled"),
                         [](CustomContext&, const TensorList& in) { return TensorList{in[0] * 2.0}; },
                         [&](const CustomContext&, const TensorList& g) {
                           seen = complex_values(g[0])[0];
                           return TensorList{g[0] * 2.0};
                         }};
  CHECK(complex_values(grad({sum(norm_sq(apply_custom(doubled, {z})[0]))}, {z})[0])[0] == C(8, 16));
  CHECK(seen == C(4, 8));
  CHECK_THROWS_WITH(backward(sum(z)), doctest::Contains("needs a seed"));
  CHECK_THROWS_WITH(backward(sum(abs(z)), tensor({{1, 1}})), doctest::Contains("backward: the seed"));
}

TEST_CASE("gradients pass between real and complex tensors") {
  Tensor x = Tensor::from<double>(std::vector<double>{1, 2}, {2});
  x.requires_grad_();
  const Tensor z = tensor({{3, 4}, {0, -1}});
  CHECK(grad({sum(real(x * z))}, {x})[0].to_vector<double>() == std::vector<double>{3, 0});
  CHECK(grad({sum(imag(x * z))}, {x})[0].to_vector<double>() == std::vector<double>{4, -1});
  CHECK(grad({sum(abs(to(x, DType::c128)))}, {x})[0].to_vector<double>() == std::vector<double>{1, 1});
  Tensor zero = tensor({{0, 0}});
  zero.requires_grad_();
  CHECK(only(grad({sum(abs(zero))}, {zero})[0]) == C(0, 0));
  CHECK(only(grad({sum(angle(zero))}, {zero})[0]) == C(0, 0));
  CHECK(only(grad({norm(zero)}, {zero})[0]) == C(0, 0));
  // The second derivative uses tensor expressions.
  Tensor w = tensor({{1, 2}, {2, -1}, {0.5, 0.5}});
  w.requires_grad_();
  const auto f = [](const TensorList& in) {
    return TensorList{sum(abs(exp(in[0] * in[0]) / in[0])) + sum(norm_sq(in[0])) * norm(in[0])};
  };
  CHECK_MESSAGE(gradcheck(f, {w}).ok, gradcheck(f, {w}).message);
  CHECK_MESSAGE(gradgradcheck(f, {w}).ok, gradgradcheck(f, {w}).message);
}

TEST_CASE("sums of complex numbers accumulate in double precision for any layout") {
  const int64_t n = 100003;
  const Tensor z = complex(full({n}, 0.1, DType::f32), full({n}, -0.2, DType::f32));
  const C expected = double(n) * C(double(0.1f), double(-0.2f));
  CHECK(std::abs(only(sum(z)) - expected) < 1e-7 * std::abs(expected));
  CHECK(std::abs(only(mean(z)) - C(0.1, -0.2)) < 1e-7);
  const Tensor wide = to(expand(unsqueeze(z, 1), {n, 3}), DType::c128);
  for (const C& total : complex_values(sum(contiguous(wide), {0})))
    CHECK(std::abs(total - expected) < 1e-9 * std::abs(expected));
  for (const C& total : complex_values(sum(transpose(contiguous(wide), 0, 1), {1})))
    CHECK(std::abs(total - expected) < 1e-9 * std::abs(expected));
}

TEST_CASE("random complex numbers have variance 1, half in the real and half in the imaginary part") {
  context().generator.seed(5);
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor z = randn({20001}, dtype);
    for (const Tensor& part : {real(z), imag(z)}) {
      CHECK(mean(part).item() == doctest::Approx(0).epsilon(0.02));
      CHECK(var(part).item() == doctest::Approx(0.5).epsilon(0.03));
    }
    CHECK(std::abs(mean(real(z) * imag(z)).item()) < 0.02);
    const Tensor u = rand({1001}, dtype);
    CHECK(amin(view_as_real(u)).item() >= 0);
    CHECK(amax(view_as_real(u)).item() < 1);
  }
}

}  // namespace
}  // namespace lunagrad::tests
