// Reductions on the Vulkan device, of rows and columns of odd lengths, of few results that several work
// groups share, and of views: the CPU's results, and the same bits every time.
#include "tests/gpu/compare.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

struct Reduced {
  Shape shape;
  Value dims;
};
// Short and long rows, whole tensors, columns, two dims; the longest ones have several parts.
const Reduced kReductions[] = {{{40, 33}, Value(1)},    {{33, 64}, Value(0)},
                               {{2, 20480}, Value(1)},  {{70001}, Value()},
                               {{20000, 12}, Value(0)}, {{40, 16, 128}, Value(Dims{0, 2})},
                               {{3, 300, 5}, Value(1)}};

// Each shape with one of `count` types in turn, or with all of them in the long variant: every pair compiles
// shaders of its own.
bool is_tested(size_t shape, size_t type, size_t count) { return long_run() || (shape + type) % count == 0; }

// Around `centre`; some are equal, NaN or -0 if `special`.
Tensor reduced_numbers(const Shape& shape, uint64_t stream, DType type, double centre = 0,
                       bool special = false) {
  Tensor x = random(shape, stream, centre - 1, centre + 1);
  if (special) {
    const Tensor odd = random(shape, stream + 50, 0, 1000);
    x = where(gt(odd, Tensor::number(500.0)), floor(x * 20.0), x);
    if (is_floating(type)) {
      x = where(lt(odd, Tensor::number(0.2)), Tensor::number(NAN), x);
      x = where(lt(abs(odd - 300.0), Tensor::number(50.0)), Tensor::number(-0.0), x);
    }
  }
  return to(is_floating(type) ? x : x * 3.0, type);
}

// Calls the op on the device for each layout of x and compares with `expected`.
void compare_layouts(const char* name, const Tensor& x, const Values& params, const Operands& expected,
                     double tolerance) {
  Operands first;
  for (const Arrangement layout : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
    const Tensor there = arrange(x, layout);
    const Operands got = apply(*find_op(name), {there}, params),
                   again = apply(*find_op(name), {there}, params);
    for (size_t i = 0; i < expected.size(); ++i) {
      CHECK_MESSAGE(distance(got[i], expected[i]) <= tolerance,
                    text(name, ' ', x.dtype(), ' ', x.shape(), " result ", i, " layout ", int(layout)));
      CHECK(words(got[i]) == words(again[i]));
    }
  }
}

TEST_CASE("reductions of floats are the CPU's") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 1;
  for (size_t i = 0; i < std::size(kReductions); ++i)
    for (const DType type : {DType::f32, DType::bf16}) {
      const auto& [shape, dims] = kReductions[i];
      ++stream;
      if (!is_tested(i, type == DType::bf16, 2)) continue;
      const double tolerance = type == DType::f32 ? 3e-6 : 1e-2;
      const auto check = [&](const char* name, const Tensor& x, const Values& params) {
        const Tensor exact = to(x, DType::f64);
        compare_layouts(name, x, params, apply(*find_op(name), {exact}, params), tolerance);
      };
      const Tensor x = reduced_numbers(shape, stream, type),
                   odd = reduced_numbers(shape, stream + 7, type, 0, true);
      for (const char* name : {"sum", "mean", "amax"}) check(name, x, {dims, false});
      check("prod", reduced_numbers(shape, stream, type, 1.0), {dims, false});
      for (const char* name : {"amin", "nansum"})
        check(name, odd,
              std::string_view(name) == "nansum" ? Values{dims, true, Value()} : Values{dims, true});
      for (const double p : {1.0, 2.0, 3.0}) check("norm", x, {p, dims, false});
      const Tensor far = reduced_numbers(shape, stream, type, 50);
      for (const char* name : {"var", "std", "var_mean", "std_mean"})
        check(name, far, {dims, Value(), false, 1});
      if (dims.kind != Value::Kind::list)
        for (const Tensor& y : {x, odd}) check("aminmax", y, {dims, false});
    }
  const Tensor equal = full({70001}, 0.1, DType::f32, gpu());
  CHECK(var(equal).item() == 0);
  require_none(fallbacks);
}

TEST_CASE("extremes are found in rows, columns and whole tensors of every type") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 100;
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::i64, DType::u8};
  for (size_t i = 0; i < std::size(kReductions); ++i) {
    const auto& [shape, dims] = kReductions[i];
    if (dims.kind == Value::Kind::list) continue;
    for (size_t t = 0; t < std::size(kTypes); ++t) {
      const DType type = kTypes[t];
      if (!is_tested(i, t, 2)) continue;
      const Tensor x = reduced_numbers(shape, ++stream, type, 0, true);
      for (const char* name : {"argmax", "argmin"})
        compare_layouts(name, x, {dims, false}, apply(*find_op(name), {x}, {dims, false}), 0);
      if (dims.present())
        for (const char* name : {"max", "min"})
          compare_layouts(name, x, {dims, false}, apply(*find_op(name), {x}, {dims, false}), 0);
    }
  }
  require_none(fallbacks);
}

TEST_CASE("truth of every type is reduced") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 200;
  constexpr DType kTypes[] = {DType::boolean, DType::i32, DType::f32, DType::c64};
  for (size_t i = 0; i < std::size(kReductions); ++i)
    for (size_t t = 0; t < std::size(kTypes); ++t) {
      const auto& [shape, dims] = kReductions[i];
      const DType type = kTypes[t];
      if (!is_tested(i, t, 2)) continue;
      for (const double share : {0.0, 0.001, 0.999, 1.0}) {
        Tensor x = lt(random(shape, ++stream, 0, 1), Tensor::number(share));
        if (type != DType::boolean) x = to(x, type);
        for (const char* name : {"all", "any"})
          compare_layouts(name, x, {dims, false}, apply(*find_op(name), {x}, {dims, false}), 0);
      }
    }
  require_none(fallbacks);
}

TEST_CASE("products with vectors and outer products are reduced and spread") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Factors factors[] = {
      {{70001}, {70001}},       {{300, 513}, {513}}, {{20000}, {20000, 6}}, {{3, 1, 640}, {3, 640, 7}},
      {{2, 5, 77}, {2, 77, 1}}, {{300, 1}, {1, 70}}, {{1}, {1, 9}}};
  uint64_t stream = 300;
  for (const Factors& f : factors)
    for (const DType type : {DType::f32, DType::f16}) {
      const Tensor a = to(random(f.a, ++stream), type), b = to(random(f.b, stream + 50), type);
      for (const Arrangement layout :
           {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
        const Tensor got = matmul(arrange(a, layout), arrange(b, layout));
        CHECK(distance(got, matmul(to(a, DType::f64), to(b, DType::f64))) <
              (type == DType::f32 ? 1e-5 : 2e-3));
      }
    }
  const Tensor x = random({1, 300}, 1), w = random({70, 300}, 2), bias = random({70}, 3);
  CHECK(distance(linear(to(x, gpu()), to(w, gpu()), to(bias, gpu())), linear(x, w, bias)) < 1e-5);
  require_none(fallbacks);
}

// Zeros and ones among the factors: no quotient could give these gradients.
TEST_CASE("gradients of products are the CPU's where factors are 0") {
  const Fallbacks fallbacks;
  uint64_t stream = 400;
  for (const auto& [shape, dims] :
       {Reduced{{6, 9}, Value(1)}, Reduced{{5, 700}, Value(1)}, Reduced{{2, 6000}, Value(1)},
        Reduced{{900, 40}, Value(0)}, Reduced{{50, 3}, Value(0)}, Reduced{{9001}, Value()},
        Reduced{{4, 3, 5}, Value(Dims{0, 2})}})
    for (const double zeros : {0.0, 1.0, 2.5}) {
      ++stream;
      Tensor factors = random(shape, stream, 0.99, 1.01);
      const double rows =
          double(factors.numel()) / double(shape[dims.kind == Value::Kind::integer ? int(dims.i) : 0]);
      factors =
          where(lt(random(shape, stream + 50, 0, double(factors.numel()) / rows), Tensor::number(zeros)),
                Tensor::number(0.0), factors);
      const auto gradient = [&](const char* name, const Tensor& given, const Values& params) {
        const Tensor x = given.detach().requires_grad_();
        const Tensor y = apply1(*find_op(name), {x}, params);
        backward(sum(y * to(random(y.shape(), stream + 9), y.device())));
        return x.grad();
      };
      const Values params = {dims, false};
      const Tensor expected = gradient("prod", factors, params);
      for (const Arrangement layout : {Arrangement::contiguous, Arrangement::transposed}) {
        const Tensor x = arrange(factors, layout);
        CHECK_MESSAGE(distance(gradient("prod", x, params), expected) < 1e-4,
                      text("prod ", shape, ' ', zeros));
        if (dims.kind != Value::Kind::integer) continue;
        CHECK_MESSAGE(distance(gradient("cumprod", x, {dims, Value()}),
                               gradient("cumprod", factors, {dims, Value()})) < 1e-4,
                      text("cumprod ", shape, ' ', zeros));
      }
    }
  require_none(fallbacks);
}

}  // namespace
}  // namespace lunagrad::tests
