// Kernels that move elements: strided copies, rows and lanes by index, pooling, interpolation and triangles,
// at sizes that do and do not divide into their units.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

// Small whole numbers, which all types hold.
Tensor whole_numbers(const Shape& shape, DType type, uint64_t stream = 1) {
  return to(floor(random(shape, stream, 0, 100.99)), type);
}
Tensor positions(const Shape& shape, int64_t size, uint64_t stream) {
  return to(floor(random(shape, stream, 0, double(size) - 0.01)), DType::i64);
}

TEST_CASE("strided copies of all types and widths equal the CPU's") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const DType type : kRealTypes)
    for (const int64_t width : {16, 20, 33, 64}) {
      CAPTURE(type);
      CAPTURE(width);
      const Tensor x = whole_numbers({3, 5, width}, type), there = to(x, gpu());
      const auto check = [&](auto&& f) { CHECK(words(f(there)) == words(f(x))); };
      check([](const Tensor& t) { return flip(t, {2}); });
      check([](const Tensor& t) { return flip(t, {0, 1, 2}); });
      check([](const Tensor& t) { return cat({t, t}, 2); });
      check([](const Tensor& t) { return tile(t, {2, 1, 3}); });
      check([](const Tensor& t) { return repeat_interleave(t, 2, 2); });
      check([](const Tensor& t) { return pad(t, {1, 1, 2, 0}); });
      check([](const Tensor& t) { return pad(t, {4, 4}); });
      check([](const Tensor& t) { return clone(narrow(t, 2, 4, 8)); });
      check([](const Tensor& t) { return clone(flip(narrow(t, 2, 3, 9), {2})); });
      check([](const Tensor& t) { return to(narrow(t, 2, 4, 8), DType::f32); });
      check([](const Tensor& t) { return tril(t, 2); });
      check([](const Tensor& t) { return clone(transpose(tile(t, {1, 9, 2}), 1, 2)); });
      check([](const Tensor& t) { return triu(t, -1); });
      check([](const Tensor& t) {
        const Tensor whole = clone(t);
        fill_(narrow(whole, 2, 4, 8), 1.0);
        return whole;
      });
    }
  const Tensor z = complex(random({3, 18}, 2), random({3, 18}, 3)), wide = tile(z, {30, 11});
  CHECK(distance(clone(transpose(to(wide, gpu()), 0, 1)), clone(transpose(wide, 0, 1))) == 0);
  CHECK(distance(flip(to(z, gpu()), {1}), flip(z, {1})) == 0);
  CHECK(distance(cat({to(z, gpu()), to(z, gpu())}, 1), cat({z, z}, 1)) == 0);
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("rows by index are copied and filled in place and into new memory") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Tensor index = positions({90}, 7, 4), there = to(index, gpu());
  for (const DType type : kRealTypes)
    for (const int64_t width : {1, 6, 16, 33})
      for (const int dim : {0, 1}) {
        CAPTURE(type);
        CAPTURE(width);
        const Shape shape = dim == 0 ? Shape{7, width} : Shape{3, 7, width};
        Shape wide = shape;
        wide[dim] = 90;
        const Tensor x = whole_numbers(shape, type), source = whole_numbers(wide, type, 2),
                     one = Tensor::number(int64_t(1));
        CHECK(words(index_copy(to(x, gpu()), dim, there, to(source, gpu()))) ==
              words(index_copy(x, dim, index, source)));
        CHECK(words(index_fill(to(x, gpu()), dim, there, one)) == words(index_fill(x, dim, index, one)));
        const Tensor memory = to(x, gpu());
        apply_in_place(*find_op("index_copy"), {memory, there, to(source, gpu())}, {dim});
        CHECK(words(memory) == words(index_copy(x, dim, index, source)));
        const Tensor several = positions({11}, 7, 5);
        CHECK(words(index_select(to(x, gpu()), dim, to(several, gpu()))) ==
              words(index_select(x, dim, several)));
      }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("long lanes of an index are written and added in order") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const DType type : {DType::f32, DType::i32, DType::i64})
    for (const bool across : {false, true}) {
      const Shape shape = across ? Shape{2100, 29} : Shape{29, 2100};
      const int dim = across ? 1 : 0;
      const Tensor index = positions(shape, 5, 1), source = whole_numbers(shape, type, 2);
      const Tensor x = whole_numbers(across ? Shape{2100, 5} : Shape{5, 2100}, type, 3);
      const Tensor at = to(index, gpu()), from = arrange(source, Arrangement::sliced);
      CHECK(words(scatter(to(x, gpu()), dim, at, from)) == words(scatter(x, dim, index, source)));
      CHECK(words(scatter_add(to(x, gpu()), dim, at, from)) == words(scatter_add(x, dim, index, source)));
    }
  CHECK(fallbacks.ops.empty());
  const Tensor wrong = full({9, 2100}, 5.0, DType::i64, gpu());
  const Tensor bad =
      scatter(zeros({5, 2100}, DType::f32, gpu()), 0, wrong, zeros({9, 2100}, DType::f32, gpu()));
  CHECK_THROWS_WITH_AS(bad.to_vector<float>(), doctest::Contains("out of range for a dim of size 5"), Error);
}

TEST_CASE("windows of all sizes are pooled as on the CPU, and their gradients") {
  const Fallbacks fallbacks;
  Tensor image = floor(random({2, 3, 37, 41}, 1, -9, 9));
  const auto check = [&](const Tensor& x, auto&& f) {
    const auto run = [&](const Tensor& given) {
      Tensor leaf = given.detach().requires_grad_();
      const Tensor y = f(leaf);
      backward(y, to(floor(random(y.shape(), 7, -9, 9)), given.device()));
      return std::pair(y.detach(), leaf.grad());
    };
    const auto expected = run(x), got = run(to(x, gpu()));
    CHECK(distance(got.first, expected.first) < 1e-5);
    CHECK(distance(got.second, expected.second) < 1e-5);
  };
  struct Window {
    int64_t kernel, stride, padding, dilation;
  };
  for (const Window& w : {Window{2, 2, 0, 1}, Window{3, 2, 1, 1}, Window{5, 3, 2, 2}, Window{20, 7, 3, 1},
                          Window{33, 33, 0, 1}, Window{7, 9, 0, 1}})
    for (const bool ceil : {false, true}) {
      CAPTURE(w.kernel);
      check(image, [&](const Tensor& x) {
        return max_pool2d(x, {w.kernel}, {w.stride}, {w.padding}, {w.dilation}, ceil);
      });
      check(image, [&](const Tensor& x) {
        return avg_pool2d(x, {w.kernel}, {w.stride}, {w.padding}, ceil, ceil, std::nullopt);
      });
    }
  for (const int64_t size : {1, 3, 37, 50}) {
    CAPTURE(size);
    check(image, [&](const Tensor& x) { return adaptive_max_pool2d(x, {size}); });
    check(image, [&](const Tensor& x) { return adaptive_avg_pool2d(x, {size}); });
  }
  const Tensor line = floor(random({2, 3, 20000}, 2, -9, 9));  // longer than the arguments of a dispatch
  check(line, [](const Tensor& x) { return max_pool1d(x, {2}, {}, {0}, {1}, false); });
  check(line, [](const Tensor& x) { return avg_pool1d(x, {300}, {100}, {20}, true, false); });
  check(line, [](const Tensor& x) { return adaptive_avg_pool1d(x, {70}); });
  CHECK(fallbacks.ops.empty());
  const NoGrad off;
  float* const values = image.data<float>();
  values[100] = values[130] = NAN;
  CHECK(distance(adaptive_max_pool2d(to(image, gpu()), {2}), adaptive_max_pool2d(image, {2})) == 0);
}

TEST_CASE("images are interpolated to larger and smaller sizes, and their gradients") {
  const Fallbacks fallbacks;
  for (const DType type : {DType::f32, DType::f16}) {
    const double bound = type == DType::f32 ? 1e-5 : 4e-3;
    for (const Shape& size : {Shape{74, 84}, Shape{10, 11}, Shape{37, 41}, Shape{400, 9}, Shape{64, 64}})
      for (const Interpolation mode : {Interpolation::nearest, Interpolation::bilinear}) {
        CAPTURE(size[0]);
        const auto run = [&](const Tensor& x) {
          Tensor leaf = x.detach().requires_grad_();
          const Tensor y = interpolate(leaf, size, mode, false);
          backward(y, to(to(random(y.shape(), 7), type), x.device()));
          return std::pair(y.detach(), leaf.grad());
        };
        const Tensor x = to(random({2, 3, 37, 41}, 1), type);
        const auto expected = run(x), got = run(to(x, gpu()));
        CHECK(distance(got.first, expected.first) < bound);
        CHECK(distance(got.second, expected.second) < bound);
      }
  }
  const NoGrad off;
  const Tensor line = random({1, 2, 5000}, 3);  // with lists that do not fit the arguments
  CHECK(distance(interpolate(to(line, gpu()), {9001}, Interpolation::linear, true),
                 interpolate(line, {9001}, Interpolation::linear, true)) < 1e-5);
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("nonzero elements are listed across blocks, and selected ones get their gradients") {
  const Fallbacks fallbacks;
  for (const int64_t n : {5, 2048, 2049, 9001}) {
    const Tensor x = random({n + 1}, 1), mask = gt(random({n + 1}, 2), Tensor::number(0.3));
    const Tensor odd = narrow(mask, 0, 1, n), there = narrow(to(mask, gpu()), 0, 1, n);
    CHECK(words(nonzero(there)) == words(nonzero(odd)));
    CHECK(words(nonzero(reshape(to(clone(odd), gpu()), {n, 1}))) == words(nonzero(reshape(odd, {n, 1}))));
    const auto gradient = [&](const Tensor& given, const Tensor& chosen) {
      Tensor leaf = given.detach().requires_grad_();
      backward(sum(square(masked_select(leaf, chosen))));
      return leaf.grad();
    };
    CHECK(distance(gradient(to(x, gpu()), to(mask, gpu())), gradient(x, mask)) < 1e-6);
  }
  CHECK(fallbacks.ops.empty());
}

}  // namespace
}  // namespace lunagrad::tests
