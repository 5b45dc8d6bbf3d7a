// Indexing ops against naive loops, index bounds, and gradients at repeated indices.
#include <doctest/doctest.h>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"
#include "tests/support/same_bits.h"

using namespace lunagrad;

namespace {

using lunagrad::tests::ids;

double at(const std::vector<double>& values, const Shape& shape, const Dims& position) {
  int64_t i = 0;
  for (int d = 0; d < shape.size(); ++d) i = i * shape[d] + position[d];
  return values[size_t(i)];
}

}  // namespace

TEST_CASE("gather and scatter_add agree with naive loops along each dim, for each order of strides") {
  const Tensor base = randn({4, 5, 6}, DType::f64);
  for (const Tensor& x : {base, permute(base, {2, 0, 1}), permute(base, {1, 2, 0})})
    for (int dim = 0; dim < 3; ++dim) {
      Shape shape = x.shape();
      for (int d = 0; d < 3; ++d) shape[d] = d == dim ? 9 : shape[d] - 1;
      const Tensor index = randint(0, x.size(dim), shape), source = randn(shape, DType::f64);
      const std::vector<int64_t> indices = index.to_vector<int64_t>();
      const std::vector<double> values = x.to_vector<double>(), sources = source.to_vector<double>();
      const std::vector<double> picked = gather(x, dim, index).to_vector<double>();
      std::vector<double> sums = values;
      for (int64_t i = 0; i < index.numel(); ++i) {
        Dims position = position_of(i, shape);
        position[dim] = indices[size_t(i)];
        REQUIRE(picked[size_t(i)] == at(values, x.shape(), position));
        int64_t flat = 0;
        for (int d = 0; d < 3; ++d) flat = flat * x.size(d) + position[d];
        sums[size_t(flat)] += sources[size_t(i)];
      }
      CHECK(scatter_add(x, dim, index, source).to_vector<double>() == sums);
    }
}

TEST_CASE("index_select and index_add take every dtype and every dim") {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i64, DType::u8, DType::boolean}) {
    const Tensor x = to(randint(0, 2, {3, 4, 5}), dtype);
    for (int dim = 0; dim < 3; ++dim)
      for (const DType index_type : {DType::i64, DType::i32, DType::u8}) {
        const Tensor index = to(ids({2, 0, 2}, {3}), index_type);
        const Tensor picked = index_select(x, dim, index);
        CHECK(picked.dtype() == dtype);
        for (int64_t k = 0; k < 3; ++k)
          CHECK(select(picked, dim, k).to_vector<double>() ==
                select(x, dim, k == 1 ? 0 : 2).to_vector<double>());
        if (dtype == DType::boolean) continue;
        const Tensor sums = index_add(zeros(x.shape(), dtype), dim, index, picked);
        CHECK(select(sums, dim, 2).to_vector<double>() ==
              (select(to(x, DType::f64), dim, 2) * 2.0).to_vector<double>());
        CHECK(sum(select(to(sums, DType::f64), dim, 1)).item() == 0);
      }
  }
  CHECK(index_select(randn({3, 2}), 0, zeros({0}, DType::i64)).shape() == Shape{0, 2});
  CHECK(index_select(full({}, 2.0), 0, ids({0}, {1})).item() == 2);
}

TEST_CASE("an index out of range or negative is an error that names its position, and nothing is written") {
  const Tensor x = randn({3, 4});
  CHECK_THROWS_WITH(
      index_select(x, 1, ids({0, 4}, {2})),
      "index_select: index 4 at position 2 is out of range for dim 2 of size 4 (indices count from 0)");
  CHECK_THROWS_WITH(
      gather(x, 0, ids({0, 0, -1}, {1, 3})),
      "gather: index -1 at position 3 is out of range for dim 1 of size 3 (indices count from 0)");
  CHECK_THROWS_WITH(
      embedding(ids({3}, {1}), x),
      "embedding: index 3 at position 1 is out of range for dim 1 of size 3 (indices count from 0)");
  CHECK_THROWS_WITH(
      scatter_add(x, 1, ids({9}, {1, 1}), zeros({1, 1})),
      "scatter_add: index 9 at position 1 is out of range for dim 2 of size 4 (indices count from 0)");
  CHECK_THROWS_WITH(
      index_add(x, 0, ids({3}, {1}), zeros({1, 4})),
      "index_add: index 3 at position 1 is out of range for dim 1 of size 3 (indices count from 0)");
  CHECK_THROWS_WITH(scatter_add(x, 1, ids({0}, {1, 1}), zeros({1, 1}, DType::f64)),
                    "scatter_add: the source is f64, the tensor f32");
}

TEST_CASE("the gradient of an embedding sums over repeated ids; padding_idx gets none") {
  Tensor weight = randn({4, 3}, DType::f64);
  weight.requires_grad_();
  const Tensor tokens = ids({1, 3, 1, 1, 2, 3}, {2, 3});
  backward(sum(embedding(tokens, weight)));
  CHECK(weight.grad().to_vector<double>() == std::vector<double>{0, 0, 0, 3, 3, 3, 1, 1, 1, 2, 2, 2});
  weight.set_grad({});
  backward(sum(embedding(tokens, weight, 1)));
  CHECK(weight.grad().to_vector<double>() == std::vector<double>{0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2});
}

TEST_CASE("sums at repeated indices do not depend on the number of threads") {
  const int threads = thread_count();
  const Tensor index = randint(0, 50, {5000}), source = randn({5000, 200}),
               wide = randint(0, 50, {5000, 200});
  std::vector<double> first;
  for (const int count : {1, 2, 3}) {
    set_thread_count(count);
    std::vector<double> results = index_add(zeros({50, 200}), 0, index, source).to_vector<double>();
    for (const double value : scatter_add(zeros({50, 200}), 0, wide, source).to_vector<double>())
      results.push_back(value);
    if (first.empty()) first = results;
    CHECK(first == results);
  }
  set_thread_count(threads);
}

TEST_CASE("masked_select and masked_fill select and fill, with gradients") {
  Tensor x = Tensor::from<double>(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  x.requires_grad_();
  const Tensor mask = gt(x.detach(), Tensor::number(2.5));
  CHECK(masked_select(x, mask).to_vector<double>() == std::vector<double>{3, 4, 5, 6});
  CHECK(grad({sum(masked_select(x, mask))}, {x})[0].to_vector<double>() ==
        std::vector<double>{0, 0, 1, 1, 1, 1});
  CHECK(masked_fill(x, mask, -1.0).to_vector<double>() == std::vector<double>{1, 2, -1, -1, -1, -1});
  CHECK(grad({sum(masked_fill(x, mask, -1.0))}, {x})[0].to_vector<double>() ==
        std::vector<double>{1, 1, 0, 0, 0, 0});
  CHECK(masked_fill(ids({1, 2}, {2}), slice(reshape(mask, {6}), 0, 1, 3), int64_t(7)).dtype() == DType::i64);
  CHECK(masked_select(x, zeros({2, 3}, DType::boolean)).shape() == Shape{0});
  CHECK(nonzero(mask).to_vector<int64_t>() == std::vector<int64_t>{0, 2, 1, 0, 1, 1, 1, 2});
}

TEST_CASE("nonzero lists positions in order for any shape, with many threads") {
  for (const Shape& shape :
       {Shape{100003}, Shape{7, 20011}, Shape{40001, 3}, Shape{3, 5, 5003}, Shape{2, 0}, Shape{}}) {
    const Tensor x = lt(rand(shape), Tensor::number(0.3));
    const std::vector<bool> truth = [&] {
      const std::vector<double> values = x.to_vector<double>();
      return std::vector<bool>(values.begin(), values.end());
    }();
    std::vector<int64_t> expected;
    for (size_t i = 0; i < truth.size(); ++i)
      if (truth[i])
        for (const int64_t place : position_of(int64_t(i), shape)) expected.push_back(place);
    const Tensor places = nonzero(x);
    CAPTURE(shape);
    CHECK(places.size(1) == shape.size());
    CHECK((places.to_vector<int64_t>() == expected));
    CHECK((nonzero(to(x, DType::f32)).to_vector<int64_t>() == expected));
  }
}

TEST_CASE("one_hot counts the classes unless num_classes is given") {
  CHECK(one_hot(ids({1, 0, 2}, {3})).to_vector<int64_t>() == std::vector<int64_t>{0, 1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(one_hot(ids({1}, {1}), 4).shape() == Shape{1, 4});
  CHECK_THROWS_WITH(one_hot(zeros({0}, DType::i64)),
                    "one_hot: an empty tensor does not tell the number of classes; give num_classes");
}

TEST_CASE("an index that repeats along other dims gives the results and gradients of its copy") {
  const Op& reduce = *find_op("scatter_reduce");
  for (const DType type :
       {DType::f64, DType::f32, DType::bf16, DType::i32, DType::u8, DType::boolean, DType::c128})
    for (const auto& [whole, part, dim] : {std::tuple<Shape, Shape, int>{{7, 5}, {3000, 1}, 0},
                                           {{7, 8}, {40000, 1}, 0},
                                           {{5, 7}, {1, 400}, 1},
                                           {{3, 7, 70}, {1, 90, 1}, 1},
                                           {{1, 7}, {1, 50}, 1}}) {
      CAPTURE(type);
      CAPTURE(whole);
      Shape shape = whole;
      shape[dim] = part[dim];
      const Tensor once = randint(0, 7, part), index = expand(once, shape), copy = clone(index);
      const auto numbers = [&](const Shape& of) {
        return type == DType::c128 ? complex(randn(of, DType::f64), randn(of, DType::f64))
                                   : to(randn(of) * 3.0, type);
      };
      Tensor x = numbers(whole), source = numbers(shape);
      if (is_floating(type)) source = where(gt(source, Tensor::number(8.0)), Tensor::number(NAN), source);
      const auto check = [&](auto&& f) {
        const auto run = [&](const Tensor& given) {
          if (!is_differentiable(type)) return std::vector<Tensor>{f(x, given, source)};
          Tensor a = x.detach().requires_grad_(), b = source.detach().requires_grad_();
          const Tensor y = f(a, given, b);
          backward(y, ones_like(y));
          return std::vector<Tensor>{y.detach(), a.grad(), b.grad()};
        };
        const std::vector<Tensor> got = run(index), expected = run(copy);
        for (size_t i = 0; i < got.size(); ++i) {
          REQUIRE(got[i].defined() == expected[i].defined());
          if (got[i].defined()) CHECK(lunagrad::tests::same_bits(got[i], expected[i]));
        }
      };
      check([&](const Tensor& a, const Tensor& i, const Tensor&) { return gather(a, dim, i); });
      check([&](const Tensor& a, const Tensor& i, const Tensor& b) { return scatter(a, dim, i, b); });
      check([&](const Tensor& a, const Tensor& i, const Tensor& b) { return scatter_add(a, dim, i, b); });
      if (type == DType::boolean || type == DType::c128) continue;
      for (const int64_t kind : {0, 1, 2, 3, 4})
        for (const bool self : {false, true})
          check([&](const Tensor& a, const Tensor& i, const Tensor& b) {
            return apply1(reduce, {a, i, b}, {dim, kind, self});
          });
    }
}

TEST_CASE("the gradient of amax and amin is shared by equal elements, in f64 and again") {
  const auto of = [](std::vector<double> numbers, Shape shape) {
    return Tensor::from<double>(numbers, shape);
  };
  const Tensor index = Tensor::from<int64_t>(std::vector<int64_t>{0, 1, 0, 0}, {4});
  for (const auto& [kind, sign] : {std::pair<int64_t, double>{3, 1.0}, {4, -1.0}}) {
    Tensor x = (of({5, 1, 2}, {3}) * sign).detach().requires_grad_();
    Tensor source = (of({5, 3, 5, 4}, {4}) * sign).detach().requires_grad_();
    const Tensor y = apply1(*find_op("scatter_reduce"), {x, index, source}, {0, kind, true});
    backward(y, of({3, 1, 1}, {3}));
    CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 0, 1});
    CHECK(source.grad().to_vector<double>() == std::vector<double>{1, 1, 1, 0});
  }
}
