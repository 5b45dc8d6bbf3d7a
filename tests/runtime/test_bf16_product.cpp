// Products of bf16 matrices against f64: packing and blocks with a kernel in plain C++, and the same with the
// processor's kernel where it has one.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/tape/tape.h"
#include "tests/support/bf16.h"
#include "tests/support/program.h"
#include "tests/support/same_bits.h"

namespace lunagrad {
namespace {

using namespace tests;

int states = 0;  // that one thread loaded and did not release

// The same numbers in several layouts: rows, columns, rows apart, all apart.
TensorList layouts(const Tensor& x) {
  const auto memory = [&] { return zeros({2 * x.size(0), 3 * x.size(1)}, DType::bf16); };
  const Tensor rows_apart = slice(narrow(memory(), 1, 1, x.size(1)), 0, 0, 2 * x.size(0), 2);
  const Tensor all_apart = slice(slice(memory(), 1, 0, 3 * x.size(1), 3), 0, 0, 2 * x.size(0), 2);
  const Tensor y = narrow_of(x);
  return {y, t(clone(t(y))), copy_(rows_apart, y), copy_(all_apart, y), t(flip(clone(t(flip(y, {0}))), {1}))};
}

TEST_CASE("bf16 products of every layout are f32 sums, rounded once") {
  const NoGrad off;
  struct Size {
    int64_t m, n, k;
  };
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    for (const auto [m, n, k] : {Size{1, 1, 1},
                                 {1, 70, 33},
                                 {70, 1, 33},
                                 {16, 16, 32},
                                 {17, 33, 65},
                                 {31, 90, 600},
                                 {290, 35, 31},
                                 {61, 300, 1100}}) {
      const Tensor a = draw({m, k}, 1), b = draw({k, n}, 2);
      const Tensor exact = matmul(a, b), sizes = matmul(abs(a), abs(b));
      for (const Tensor& left : layouts(a))
        for (const Tensor& right : layouts(b)) CHECK(is_rounded(matmul(left, right), exact, sizes, k));
    }
    const Tensor one = expand(narrow_of(draw({1, 1}, 3)), {20, 40}), b = draw({40, 50}, 4);
    CHECK(is_rounded(matmul(one, narrow_of(b)), matmul(to(one, DType::f64), b),
                     matmul(abs(to(one, DType::f64)), abs(b)), 40));
  }
}

TEST_CASE("bf16 products of vectors and batches, whose operands may be shared") {
  const NoGrad off;
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    const std::pair<Shape, Shape> pairs[] = {
        {{40}, {40}},          {{40}, {3, 40, 5}},       {{3, 7, 40}, {40}},          {{5, 7, 40}, {40, 9}},
        {{7, 40}, {6, 40, 9}}, {{6, 7, 40}, {6, 40, 9}}, {{2, 1, 7, 40}, {3, 40, 9}}, {{3, 0, 4}, {4, 2}},
        {{3, 0}, {0, 4}},      {{300, 3, 4}, {4, 2}},    {{300, 3, 4}, {300, 4, 2}}};
    for (const auto& [left, right] : pairs) {
      const Tensor a = draw(left, 1), b = draw(right, 2);
      CHECK(is_rounded(matmul(narrow_of(a), narrow_of(b)), matmul(a, b), matmul(abs(a), abs(b)), 40));
    }
    // Two large items, each divided among the threads; and a batch whose matrices are transposed.
    const Tensor a = draw({2, 200, 150}, 3), b = draw({2, 170, 150}, 4), turned = transpose(b, -2, -1);
    CHECK(is_rounded(matmul(narrow_of(a), transpose(narrow_of(b), -2, -1)), matmul(a, turned),
                     matmul(abs(a), abs(turned)), 150));
  }
}

TEST_CASE("bf16 linear adds the bias before it rounds") {
  const NoGrad off;
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    for (const Shape& shape : {Shape{70}, Shape{3, 70}, Shape{2, 45, 70}}) {
      const Tensor x = draw(shape, 1), w = draw({33, 70}, 2), bias = draw({33}, 3);
      CHECK(is_rounded(linear(narrow_of(x), narrow_of(w), narrow_of(bias)), linear(x, w, bias),
                       linear(abs(x), abs(w), abs(bias)), 71));
      CHECK(is_rounded(linear(narrow_of(x), narrow_of(w)), linear(x, w), linear(abs(x), abs(w)), 70));
    }
    // Rounded first, 1 + 2^-8 would be 1, and the bias 2^-9 would be lost.
    const std::vector<double> weight{1, 0x1p-8};
    const Tensor y = linear(narrow_of(full({1, 2}, 1)), narrow_of(Tensor::from<double>(weight, {1, 2})),
                            narrow_of(full({1}, 0x1p-9)));
    CHECK(y.item() == 1 + 0x1p-7);
  }
}

TEST_CASE("the gradients of bf16 products are bf16 products") {
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    struct Case {
      Shape a, b, result;
      bool is_linear;
    };
    for (const auto& [left, right, result, is_linear] :
         {Case{{37, 50}, {50, 41}, {37, 41}, false}, Case{{3, 37, 50}, {50, 41}, {3, 37, 41}, false},
          Case{{3, 37, 50}, {3, 50, 41}, {3, 37, 41}, false},
          Case{{3, 37, 50}, {41, 50}, {3, 37, 41}, true}}) {
      const auto gradients = [&](Tensor a, Tensor b, const Tensor& g) {
        a = clone(a).requires_grad_(), b = clone(b).requires_grad_();
        return grad({is_linear ? linear(a, b) : matmul(a, b)}, {a, b}, {g});
      };
      const Tensor a = draw(left, 1), b = draw(right, 2), g = draw(result, 3);
      const TensorList exact = gradients(a, b, g), sizes = gradients(abs(a), abs(b), abs(g));
      const TensorList got = gradients(narrow_of(a), narrow_of(b), narrow_of(g));
      for (size_t i = 0; i < 2; ++i) CHECK(is_rounded(got[i], exact[i], sizes[i], 3 * 41));
    }
  }
}

TEST_CASE("bf16 products have the same bits with any number of threads") {
  const NoGrad off;
  const int before = thread_count();
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    const Tensor a = narrow_of(draw({333, 700}, 1)), b = narrow_of(draw({700, 290}, 2));
    const Tensor c = narrow_of(draw({5, 64, 90}, 3)), d = narrow_of(draw({5, 90, 70}, 4));
    set_thread_count(1);
    const Tensor product = matmul(a, b), products = matmul(c, d);
    for (const int threads : {2, 3, 7}) {
      set_thread_count(threads);
      CHECK(same_bits(matmul(a, b), product));
      CHECK(same_bits(matmul(c, d), products));
    }
  }
  set_thread_count(before);
}

TEST_CASE("a stop ends a bf16 product and releases the state of its kernel") {
  const NoGrad off;
  Context own;
  const UseContext current(own);
  static Context* stopped;
  stopped = &own;
  const int before = thread_count();
  set_thread_count(1);
  const Bf16Kernel stopping{"stopping", [] { ++states; }, [] { --states; },
                            [](int64_t, const uint32_t*, const uint32_t*, int64_t, bool, float*, int64_t) {
                              CHECK(states == 1);
                              stopped->stop_requested = true;
                            }};
  const UseKernel use(&stopping);
  const Tensor a = zeros({32, 4096}, DType::bf16), b = zeros({4096, 32}, DType::bf16);
  bool cancelled = false;
  try {
    matmul(a, b);
  } catch (const Error& error) {
    cancelled = error.kind() == ErrorKind::cancelled;
  }
  own.stop_requested = false;
  set_thread_count(before);
  CHECK(cancelled);
  CHECK(states == 0);
}

TEST_CASE("bf16 kernels take denormal numbers for 0; infinities and NaN pass, also at the edges") {
  const NoGrad off;
  for (const Bf16Kernel* kernel : kernels()) {
    const UseKernel use(kernel);
    INFO(std::string(kernel->name));
    CHECK(matmul(narrow_of(full({3, 3}, 0x1p-130)), narrow_of(full({3, 3}, 1024))).to_vector<double>() ==
          std::vector<double>(9, 0));
    std::vector<double> values(3 * 5, 1);
    values[4] = INFINITY, values[14] = NAN;
    const std::vector<double> c =
        matmul(narrow_of(Tensor::from<double>(values, {3, 5})), narrow_of(ones({5, 2}))).to_vector<double>();
    for (int j = 0; j < 2; ++j) {
      CHECK(c[size_t(j)] == INFINITY);
      CHECK(c[size_t(2 + j)] == 5);
      CHECK(std::isnan(c[size_t(4 + j)]));
    }
  }
}

TEST_CASE("without a kernel bf16 products go through f32") {
  const NoGrad off;
  const UseKernel use(nullptr);
  const Tensor a = draw({37, 50}, 1), b = draw({50, 41}, 2);
  CHECK(is_rounded(matmul(narrow_of(a), narrow_of(b)), matmul(a, b), matmul(abs(a), abs(b)), 50));
  CHECK(matmul(narrow_of(full({1, 1}, 0x1p-130)), narrow_of(full({1, 1}, 1024))).item() == 0x1p-120);
}

TEST_CASE("an unknown value of LUNAGRAD_BF16 is an error") {
  const test::Finished misspelt =
      test::Program({test::kProgram, "devices"}, "", {"LUNAGRAD_BF16=fast"}).finish();
  CHECK(misspelt.code == 1);
  CHECK(misspelt.err == "lunagrad: LUNAGRAD_BF16=fast: the values are off, avx512 and amx\n");
}

}  // namespace
}  // namespace lunagrad
