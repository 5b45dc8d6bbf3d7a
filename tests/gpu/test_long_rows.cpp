// Sums and writes by index, sorting, selection and running combinations of more elements than one work group
// holds, on the Vulkan device: the CPU's results, and the same bits every time.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

Tensor whole(const Shape& shape, uint64_t stream, double low, double high, DType type) {
  return to(floor(random(shape, stream, low, high)), type);
}

// Numbers; many are equal, NaN, infinite or zeros of both signs.
Tensor special(const Shape& shape, uint64_t stream, DType type) {
  Tensor x = random(shape, stream, -3, 3);
  const Tensor odd = random(shape, stream + 50, 0, 100);
  x = where(gt(odd, Tensor::number(80.0)), floor(x), x);
  if (is_floating(type)) {
    x = where(lt(odd, Tensor::number(0.3)), Tensor::number(NAN), x);
    x = where(gt(odd, Tensor::number(99.8)), Tensor::number(-INFINITY), x);
    x = where(lt(abs(odd - 50.0), Tensor::number(2.0)), Tensor::number(-0.0), x);
  }
  return to(type == DType::i64 ? x * 1e12 : type == DType::i32 ? x * 1e5 : x, type);
}

struct Table {
  int64_t rows, width, ids;
  double choices;  // of the rows that the ids name
};
const Table kTables[] = {{5000, 1, 3000, 5000}, {7, 3, 4000, 7},      {300, 64, 2500, 1},
                         {4096, 12, 700, 4096}, {1, 5, 3000, 1},      {70000, 2, 600, 70000},
                         {40, 1030, 900, 3},    {256, 4096, 520, 256}};

TEST_CASE("gradients of embeddings are the CPU's, and the same bits every time") {
  const Fallbacks fallbacks;
  uint64_t stream = 1;
  for (const Table& table : kTables)
    for (const DType ids_type : {DType::i64, DType::i32}) {
      ++stream;
      const Tensor ids = whole({table.ids}, stream, 0, table.choices, ids_type);
      const Tensor g = random({table.ids, table.width}, stream + 100);
      const auto gradient = [&](Device* device, DType type, std::optional<int64_t> padding) {
        Tensor weight = zeros({table.rows, table.width}, type, *device);
        weight.requires_grad_();
        const Tensor y = embedding(to(ids, *device), weight, padding);
        backward(sum(y * to(to(g, type), *device)));
        return weight.grad();
      };
      const auto padding = stream % 3 == 0 ? std::optional<int64_t>(0) : std::nullopt;
      const Tensor exact = gradient(&cpu_device(), DType::f64, padding);
      const Tensor got = gradient(&gpu(), DType::f32, padding);
      CHECK_MESSAGE(distance(got, exact) < 1e-5, text(table.rows, " x ", table.width, ", ", table.ids));
      CHECK(words(got) == words(gradient(&gpu(), DType::f32, padding)));
      const Tensor half = gradient(&gpu(), DType::bf16, padding);
      CHECK(distance(half, gradient(&cpu_device(), DType::bf16, padding)) < 2e-2);
    }
  require_none(fallbacks);
}

TEST_CASE("sums by index along any dim, of every type that has them") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 200;
  for (const auto& [shape, dim, count] : {std::tuple<Shape, int, int64_t>{{40, 6}, 0, 5000},
                                          {{6, 40}, 1, 5000},
                                          {{3, 2000, 5}, 1, 1500},
                                          {{2, 33, 8}, 1, 3000},
                                          {{20000}, 0, 30000}}) {
    ++stream;
    Shape from = shape;
    from[dim] = count;
    const Tensor index = whole({count}, stream, 0, double(shape[dim]), DType::i64);
    for (const DType type : {DType::f32, DType::i32, DType::i64, DType::u8, DType::c64}) {
      const Tensor x = is_floating(type) || is_complex(type) ? to(random(shape, stream + 1), type)
                                                             : whole(shape, stream + 1, 0, 9, type);
      const Tensor source = is_floating(type) || is_complex(type) ? to(random(from, stream + 2), type)
                                                                  : whole(from, stream + 2, 0, 9, type);
      const Tensor here = index_add(x, dim, index, source, 2.0);
      for (const Arrangement layout : {Arrangement::contiguous, Arrangement::transposed}) {
        const Tensor there =
            index_add(arrange(x, layout), dim, arrange(index, layout), arrange(source, layout), 2.0);
        CHECK_MESSAGE(distance(there, here) < (is_integral(type) ? 1e-30 : 2e-5), text(type, ' ', shape));
      }
      // In place, in memory whose elements do not lie together.
      const Tensor target = clone(arrange(x, Arrangement::contiguous)),
                   apart = transpose(clone(transpose(target, 0, -1)), 0, -1);
      apply_in_place(*find_op("index_add"), {apart, to(index, gpu()), to(source, gpu())}, {dim, 2.0});
      CHECK_MESSAGE(distance(apart, here) < (is_integral(type) ? 1e-30 : 2e-5), text(type, ' ', shape));
    }
  }
  require_none(fallbacks);
}

TEST_CASE("long lanes are added up and written by all threads") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 300;
  for (const auto& [shape, from, dim] : {std::tuple<Shape, Shape, int>{{1000}, {50000}, 0},
                                         {{3}, {9000}, 0},
                                         {{4, 700}, {3, 5000}, 1},
                                         {{600, 5}, {4000, 4}, 0}}) {
    ++stream;
    const Tensor index = whole(from, stream, 0, double(shape[dim]), DType::i64);
    const Tensor numbers = whole(shape, stream + 1, 0, 9, DType::i32),
                 added = whole(from, stream + 2, 0, 9, DType::i32);
    for (const Arrangement layout : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
      const Tensor x = arrange(numbers, layout), at = arrange(index, layout), source = arrange(added, layout);
      CHECK(words(scatter_add(x, dim, at, source)) == words(scatter_add(numbers, dim, index, added)));
      CHECK(words(scatter(x, dim, at, source)) == words(scatter(numbers, dim, index, added)));
      CHECK(words(scatter(x, dim, at, Tensor::number(int64_t(7)))) ==
            words(scatter(numbers, dim, index, Tensor::number(int64_t(7)))));
      if (shape.size() == 1) {
        CHECK(words(index_copy(x, 0, at, source)) == words(index_copy(numbers, 0, index, added)));
        CHECK(words(apply1(*find_op("index_fill"), {x, at, Tensor::number(int64_t(7))}, {0})) ==
              words(apply1(*find_op("index_fill"), {numbers, index, Tensor::number(int64_t(7))}, {0})));
      }
    }
    const Tensor real = random(shape, stream + 3), parts = random(from, stream + 4);
    const Tensor got = scatter_add(to(real, gpu()), dim, to(index, gpu()), to(parts, gpu()));
    CHECK(distance(got, scatter_add(to(real, DType::f64), dim, index, to(parts, DType::f64))) < 1e-5);
    CHECK(words(got) == words(scatter_add(to(real, gpu()), dim, to(index, gpu()), to(parts, gpu()))));
    const Tensor z = to(real, DType::c64);
    CHECK(distance(scatter_add(to(z, gpu()), dim, to(index, gpu()), to(to(parts, DType::c64), gpu())),
                   scatter_add(z, dim, index, to(parts, DType::c64))) < 1e-5);
  }
  require_none(fallbacks);
}

TEST_CASE("an index out of range among many is named, and the others count") {
  const NoGrad off;
  std::vector<int64_t> ids(3000, 5);
  ids[1234] = 600;
  const Tensor index = Tensor::from<int64_t>(ids, {3000}, gpu());
  const Tensor x = zeros({600, 40}, DType::f32, gpu()), line = zeros({600}, DType::f32, gpu());
  CHECK_THROWS_WITH_AS(
      index_add(x, 0, index, ones({3000, 40}, DType::f32, gpu())).to_vector<float>(),
      doctest::Contains("index_add: index 600 at position 1235 is out of range for a dim of size 600"),
      Error);
  CHECK_THROWS_WITH_AS(
      scatter_add(line, 0, index, ones({3000}, DType::f32, gpu())).to_vector<float>(),
      doctest::Contains("scatter_add: index 600 at position 1235 is out of range for a dim of size 600"),
      Error);
  CHECK_THROWS_WITH_AS(
      scatter(line, 0, index, ones({3000}, DType::f32, gpu())).to_vector<float>(),
      doctest::Contains("scatter: index 600 at position 1235 is out of range for a dim of size 600"), Error);
}

TEST_CASE("long rows of every type are sorted, and their first elements chosen") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 400;
  for (const DType type :
       {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32})
    for (const auto& [shape, dim] :
         {std::pair<Shape, int>{{4097}, 0}, {{3, 9001}, 1}, {{5000, 2}, 0}, {{2, 8100}, 1}}) {
      const Tensor x = special(shape, ++stream, type), there = to(x, gpu());
      for (const bool descending : {false, true}) {
        const auto expected = sort(x, dim, descending), got = sort(there, dim, descending);
        CHECK_MESSAGE(words(got.first) == words(expected.first), text(type, ' ', shape));
        CHECK_MESSAGE(words(got.second) == words(expected.second), text(type, ' ', shape));
        for (const int64_t k : {1, 5, 700, 1024, 2060}) {
          const auto best = topk(x, k, dim, descending), found = topk(there, k, dim, descending);
          CHECK_MESSAGE(words(found.first) == words(best.first), text(type, ' ', shape, " k ", k));
          CHECK_MESSAGE(words(found.second) == words(best.second), text(type, ' ', shape, " k ", k));
        }
      }
    }
  // So long that digits have 11 bits.
  for (const DType type : {DType::f32, DType::i32, DType::i64}) {
    const Tensor x = special({2, 70001}, ++stream, type), there = to(x, gpu());
    for (const bool descending : {false, true})
      for (const int64_t k : {3, 1000}) {
        const auto best = topk(x, k, 1, descending), found = topk(there, k, 1, descending);
        CHECK_MESSAGE(words(found.first) == words(best.first), text(type, " k ", k));
        CHECK_MESSAGE(words(found.second) == words(best.second), text(type, " k ", k));
      }
    for (const int64_t k : {1, 35000, 70001}) {
      const Operands best = apply(*find_op("kthvalue"), {x}, {k, 1, true}),
                     found = apply(*find_op("kthvalue"), {there}, {k, 1, true});
      CHECK_MESSAGE(words(found[0]) == words(best[0]), text(type, " place ", k));
      CHECK_MESSAGE(words(found[1]) == words(best[1]), text(type, " place ", k));
    }
    CHECK(words(apply(*find_op("median"), {there}, {1, false})[0]) ==
          words(apply(*find_op("median"), {x}, {1, false})[0]));
  }
  const Tensor equal = full({3, 20000}, 2.5, DType::f32);
  CHECK(words(topk(to(equal, gpu()), 2500, 1, true).second) == words(topk(equal, 2500, 1, true).second));
  require_none(fallbacks);
}

TEST_CASE("one element of the order of long rows is found in them, and the gradient goes back to its place") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 450;
  const auto check = [](const Operands& got, const Operands& expected, const std::string& what) {
    for (size_t i = 0; i < expected.size(); ++i) CHECK_MESSAGE(words(got[i]) == words(expected[i]), what);
  };
  for (const DType type :
       {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32})
    for (const auto& [shape, dim] :
         {std::pair<Shape, int>{{2049}, 0}, {{3, 9001}, 1}, {{5000, 2}, 0}, {{2, 4096, 3}, 1}})
      for (const bool with_nans : {false, true}) {
        Tensor x = special(shape, ++stream, type);
        if (!with_nans && is_floating(type)) x = nan_to_num(x);
        const Tensor there = arrange(x, stream % 2 ? Arrangement::contiguous : Arrangement::sliced);
        const std::string what = text(type, ' ', shape, with_nans ? " with NaN" : "");
        for (const int64_t k : {int64_t(1), int64_t(40), shape[dim] / 2, shape[dim]})
          check(apply(*find_op("kthvalue"), {there}, {k, dim, true}),
                apply(*find_op("kthvalue"), {x}, {k, dim, true}), what);
        for (const char* const name : {"median", "nanmedian"}) {
          check(apply(*find_op(name), {there}, {dim, false}), apply(*find_op(name), {x}, {dim, false}), what);
          check(apply(*find_op(name), {there}, {Value(), false}),
                apply(*find_op(name), {x}, {Value(), false}), what);
        }
      }
  const Tensor none = full({2, 3000}, NAN, DType::f32);
  check(apply(*find_op("nanmedian"), {to(none, gpu())}, {1, false}),
        apply(*find_op("nanmedian"), {none}, {1, false}), "only NaN");
  require_none(fallbacks);
}

TEST_CASE("gradients of elements in order go to the places where they were") {
  const Fallbacks fallbacks;
  for (const auto& [shape, dim] :
       {std::pair<Shape, int>{{4097}, 0}, {{3, 2500}, 1}, {{5000, 2}, 0}, {{2, 300, 5}, 1}})
    for (const DType type : {DType::f32, DType::bf16}) {
      const Tensor values = to(random(shape, 470), type);
      const auto gradients = [&](Device& device) {
        TensorList found;
        for (const Values& params : {Values{dim, true, false}, Values{int64_t(7), dim, true, true},
                                     Values{int64_t(200), dim, false}}) {
          const char* const name = params.size() == 4 ? "topk" : params[0].i == 200 ? "kthvalue" : "sort";
          const Tensor x = to(values, device).detach().requires_grad_();
          const Tensor y = apply(*find_op(name), {x}, params)[0];
          backward(sum(y * to(to(random(y.shape(), 471), type), device)));
          found.push_back(x.grad());
        }
        return found;
      };
      const TensorList here = gradients(cpu_device()), there = gradients(gpu());
      for (size_t i = 0; i < here.size(); ++i)
        CHECK_MESSAGE(words(there[i]) == words(here[i]), text(type, ' ', shape, ' ', i));
    }
  require_none(fallbacks);
}

TEST_CASE("running combinations of long rows, and of rows that lie side by side") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 500;
  for (const auto& [shape, dim] : {std::pair<Shape, int>{{70001}, 0},
                                   {{2, 12288}, 1},
                                   {{40, 4100}, 1},
                                   {{9000, 37}, 0},
                                   {{2, 700, 64}, 1},
                                   {{513}, 0}}) {
    ++stream;
    const Tensor x = random(shape, stream), numbers = whole(shape, stream, -9, 9, DType::i32);
    for (const Arrangement layout : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced})
      for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true}) {
          const Op& op = *find_op("_cumsum");
          const Values params = {dim, exclusive, reverse};
          const Tensor got = apply1(op, {arrange(x, layout)}, params);
          CHECK_MESSAGE(distance(got, apply1(op, {to(x, DType::f64)}, params)) < 1e-5,
                        text(shape, int(layout)));
          CHECK(words(got) == words(apply1(op, {arrange(x, layout)}, params)));
          CHECK(words(apply1(op, {arrange(numbers, layout)}, params)) ==
                words(apply1(op, {numbers}, params)));
        }
    const Tensor z = to(x, DType::c64);
    CHECK(distance(cumsum(to(z, gpu()), dim), cumsum(z, dim)) < 1e-5);
    const Tensor factors = random(shape, stream, 0.98, 1.02);
    CHECK(distance(cumprod(to(factors, gpu()), dim), cumprod(to(factors, DType::f64), dim)) < 1e-3);
    CHECK(words(cumprod(to(numbers, gpu()), dim)) == words(cumprod(numbers, dim)));
    for (const char* name : {"cummax", "cummin"}) {
      const Tensor y = special(shape, stream, DType::f32);
      const Operands here = apply(*find_op(name), {y}, {dim}),
                     there = apply(*find_op(name), {to(y, gpu())}, {dim});
      CHECK(words(there[0]) == words(here[0]));
      CHECK(words(there[1]) == words(here[1]));
    }
    for (const bool reverse : {false, true}) {
      const Op& op = *find_op("_logcumsumexp");
      CHECK(distance(apply1(op, {to(x, gpu())}, {dim, reverse}),
                     apply1(op, {to(x, DType::f64)}, {dim, reverse})) < 1e-5);
    }
  }
  require_none(fallbacks);
}

}  // namespace
}  // namespace lunagrad::tests
