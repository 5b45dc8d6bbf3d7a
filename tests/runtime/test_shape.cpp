// Ops that change shape or order, beyond the sample table: copies of every layout, overlapping windows,
// products with zeros, einsum against loops, limits of the integers, random draws.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"
#include "tests/support/message_of.h"

using namespace lunagrad;

namespace {

Tensor reals(const std::vector<double>& values, const Shape& shape) {
  return Tensor::from<double>(values, shape);
}
std::vector<double> list(const Tensor& x) { return x.to_vector<double>(); }
using lunagrad::tests::error_of, lunagrad::tests::ids, lunagrad::tests::List;

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool gradients_hold(const TensorFunction& f, TensorList inputs) {
  for (Tensor& x : inputs) x.requires_grad_();
  const GradCheckResult first = gradcheck(f, inputs), second = gradgradcheck(f, inputs);
  INFO(first.message << second.message);
  CHECK(first.ok);
  CHECK(second.ok);
  return first.ok && second.ok;
}

}  // namespace

TEST_CASE("a copy between any strides and dtypes agrees with a loop") {
  // Sizes around the boundaries of tiles, blocks and vectors; three dims in every order, one side reversed.
  const Shape sizes[] = {{3, 70, 130}, {2, 33, 5},  {1, 129, 257}, {9, 1, 40},
                         {17, 16, 8},  {2, 700, 3}, {2, 4, 333},   {3, 2, 70}};
  const DType types[] = {DType::u8, DType::f16, DType::f32, DType::f64, DType::i64, DType::bf16};
  constexpr int kOrders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const Shape& shape : sizes)
    for (const DType from : types)
      for (const DType to_type : {from, DType::f32})
        for (const auto& order : kOrders)
          for (const bool reversed : {false, true}) {
            const int64_t count = numel(shape);
            const Tensor values =
                to(remainder(arange(0, double(count), 1, DType::i64), Tensor::number(int64_t(251))), from);
            const Tensor x = permute(reshape(values, shape), {order[0], order[1], order[2]});
            const Tensor out = Tensor::empty(x.shape(), to_type);
            Strides strides = x.strides();
            int64_t first = 0;
            if (reversed) {
              first = (x.size(2) - 1) * strides[2];
              strides[2] = -strides[2];
            }
            copy_strided(out.raw(), to_type, out.strides(),
                         static_cast<char*>(x.raw()) + first * int64_t(item_size(from)), from, strides,
                         x.shape());
            const List got = list(out);
            const List given = list(values);
            bool same = true;
            size_t at = 0;
            for (int64_t i = 0; i < x.size(0); ++i)
              for (int64_t j = 0; j < x.size(1); ++j)
                for (int64_t k = 0; k < x.size(2); ++k)
                  same &=
                      got[at++] == given[size_t(first + i * strides[0] + j * strides[1] + k * strides[2])];
            REQUIRE_MESSAGE(same, shape << " " << from << " to " << to_type << ", order " << order[0]
                                        << order[1] << order[2]);
          }
}

TEST_CASE("a copy larger than the caches is complete: contiguous, transposed and padded") {
  const int64_t n = 1501;  // 9 MiB of f32; not a multiple of any block size
  const Tensor x = reshape(arange(0, double(n * n), 1, DType::f32), {n, n});
  const Tensor crossed = clone(transpose(x, 0, 1)), wide = pad(x, {1, 2, 3, 0}),
               mixed = add(x, transpose(x, 0, 1));
  const float* given = x.data<float>();
  bool same = true;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      same &= crossed.data<float>()[j * n + i] == given[i * n + j];
      same &= wide.data<float>()[(i + 3) * (n + 3) + j + 1] == given[i * n + j];
      same &= mixed.data<float>()[i * n + j] == given[i * n + j] + given[j * n + i];
    }
  CHECK(same);
  const Tensor pixels = reshape(narrow(flatten(x, 0, 1), 0, 0, 3 * 700 * 1001), {700 * 1001, 3});
  const Tensor planes = clone(t(pixels)), again = clone(t(planes));
  for (int64_t i = 0; i < 700 * 1001; ++i)
    for (int64_t c = 0; c < 3; ++c) same &= planes.data<float>()[c * 700 * 1001 + i] == given[i * 3 + c];
  CHECK(same);
  CHECK(list(again) == list(pixels));
  CHECK(list(clone(x)) == list(x));
  CHECK(sum(wide).item() == doctest::Approx(sum(x).item()));
}

TEST_CASE("overlapping windows sum their gradients, also after an in-place write") {
  Tensor x = reals({1, 2, 3, 4, 5}, {5}).requires_grad_();
  const Tensor windows = unfold(x, 0, 3, 1);
  CHECK(list(windows) == List{1, 2, 3, 2, 3, 4, 3, 4, 5});
  CHECK(windows.storage_ref() == x.storage_ref());
  backward(sum(windows));
  CHECK(list(x.grad()) == List{1, 2, 3, 2, 1});

  // After an in-place write to the base, the windows are derived from it again.
  Tensor leaf = reals({1, 2, 3, 4}, {4}).requires_grad_();
  const Tensor base = leaf * 1.0, view = unfold(base, 0, 2, 1);
  apply_in_place(*find_op("mul"), {base, Tensor::number(3.0)});
  CHECK(list(view) == List{3, 6, 6, 9, 9, 12});
  backward(sum(view));
  CHECK(list(leaf.grad()) == List{3, 6, 6, 3});
  CHECK(contains(error_of([&] { fill_(unfold(zeros({4}), 0, 2, 1), 1); }), "windows that overlap"));
  CHECK(list(fill_(unfold(zeros({4}), 0, 2, 2), 1)) == List{1, 1, 1, 1});
  CHECK(unfold(reals({7}, {}), 0, 1, 1).shape() == Shape{1, 1});
}

TEST_CASE("first and second derivatives of cumprod are right where factors are 0") {
  const TensorFunction f = [](const TensorList& in) { return TensorList{cumprod(in[0], 1)}; };
  for (const List& row :
       {List{1.5, 0, 2, -1}, List{0, 2, 3, 4}, List{2, 0, 3, 0}, List{0, 0, 1, 2}, List{1, 2, 3, 0}})
    CHECK(gradients_hold(f, {reals(row, {1, 4})}));
  CHECK(list(cumprod(reals({1, 2, 3, 4}, {2, 2}), 0)) == List{1, 2, 3, 8});
  const Tensor wrapped = cumprod(ids({int64_t(1) << 40, int64_t(1) << 40, 3}), 0);
  CHECK(wrapped.to_vector<int64_t>()[1] == 0);
  CHECK(cumprod(zeros({0, 3}), 0).shape() == Shape{0, 3});
}

TEST_CASE("integers at the limits of their range give right results or errors") {
  const Tensor x = zeros({4});
  CHECK(contains(error_of([&] { narrow(x, 0, INT64_MAX, INT64_MAX); }), "narrow: positions"));
  CHECK(contains(error_of([&] { narrow(x, 0, 1, INT64_MAX); }), "narrow: positions"));
  CHECK(slice(x, 0, 1, 4, INT64_MAX).shape() == Shape{1});
  CHECK(slice(x, 0, 0, 0, INT64_MAX).shape() == Shape{0});
  CHECK(slice(x, 0, 4, INT64_MIN, 1).shape() == Shape{0});
  CHECK(contains(error_of([&] { slice(x, 0, 0, INT64_MAX, 1); }), "slice: positions"));
  CHECK(unfold(x, 0, 4, INT64_MAX).shape() == Shape{1, 4});
  CHECK(diagonal(zeros({2, 2}), INT64_MAX).numel() == 0);
  CHECK(diagonal(zeros({2, 2}), INT64_MIN).numel() == 0);
  CHECK(list(roll(ids({1, 2, 3}), {INT64_MAX}, {0})) == List{3, 1, 2});
  CHECK(list(roll(ids({1, 2, 3}), {INT64_MIN}, {0})) == list(roll(ids({1, 2, 3}), {INT64_MIN % 3}, {0})));
  const auto range = [](int64_t start, int64_t end, int64_t step) {
    return apply1(*find_op("arange"), {}, {start, end, step, Value()}).to_vector<int64_t>();
  };
  CHECK(range(INT64_MIN, INT64_MAX, INT64_MAX) == std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1});
  CHECK(range(INT64_MAX, INT64_MIN, INT64_MIN) == std::vector<int64_t>{INT64_MAX, -1});
  CHECK(range(INT64_MAX - 2, INT64_MAX, 1) == std::vector<int64_t>{INT64_MAX - 2, INT64_MAX - 1});
}

TEST_CASE("among equal indices the last write wins, for any number of threads") {
  const int threads = thread_count();
  for (const int count : {1, 4}) {
    set_thread_count(count);
    CHECK(list(scatter(zeros({3}, DType::f64), 0, ids({1, 1, 0}), reals({5, 6, 7}, {3}))) == List{7, 6, 0});
    CHECK(list(index_copy(zeros({3}, DType::f64), 0, ids({2, 2}), reals({5, 6}, {2}))) == List{0, 0, 6});
    // With many rows, one thread and all threads give the same result.
    const Tensor index = remainder(arange(0, 6000, 1, DType::i64), Tensor::number(int64_t(37)));
    const Tensor rows = reshape(arange(0, 6000 * 8, 1, DType::f32), {6000, 8});
    const Tensor written = index_copy(zeros({37, 8}), 0, index, rows);
    CHECK(list(select(written, 0, 5)) == list(select(rows, 0, 5 + 37 * 162)));
    const Tensor added = index_add(zeros({37, 8}), 0, index, rows * 0.1);
    set_thread_count(1);
    CHECK(list(added) == list(index_add(zeros({37, 8}), 0, index, rows * 0.1)));
  }
  set_thread_count(threads);
}

TEST_CASE("rows at many indices are added, compared and written alike by any number of threads") {
  const NoGrad off;
  const int before = thread_count();
  constexpr int64_t kIndices = 30011, kRows = 701;
  const Tensor i = arange(0, double(kIndices), 1, DType::i64);
  const Tensor index = remainder(i * i + i, Tensor::number(kRows));  // some rows often, some never
  for (const int64_t columns : {1, 3, 4, 8, 17, 70}) {
    const Shape shape{kIndices, columns};
    const Tensor values = sin(reshape(arange(0, double(kIndices * columns), 1, DType::f32), shape));
    const Tensor into = ones({kRows, columns}), key = expand(unsqueeze(index, 1), shape);
    const auto results = [&](int threads) {
      set_thread_count(threads);
      return std::vector<List>{
          list(index_add(into, 0, index, values)),
          list(scatter_add(into, 0, key, values)),
          list(index_copy(into, 0, index, values)),
          list(scatter(into, 0, key, values)),
          list(apply1(*find_op("scatter_reduce"), {into, key, values}, {0, int64_t(3), true})),
          list(index_add(zeros({kRows}), 0, index, select(values, 1, 0))),
          list(gather(into, 0, key)),
          list(gather(into, 0, contiguous(key))),
          list(index_select(into, 0, index))};
    };
    const std::vector<List> expected = results(1);
    List sums(size_t(kRows * columns), 1), last(size_t(kRows * columns), 1), most(size_t(kRows * columns), 1);
    const List from = list(values), rows = list(index);
    for (int64_t k = 0; k < kIndices * columns; ++k) {
      const auto at = size_t(int64_t(rows[size_t(k / columns)]) * columns + k % columns);
      sums[at] = double(float(sums[at]) + float(from[size_t(k)]));
      last[at] = from[size_t(k)];
      most[at] = std::max(most[at], from[size_t(k)]);
    }
    CHECK(expected[0] == sums);
    CHECK(expected[1] == sums);
    CHECK(expected[2] == last);
    CHECK(expected[3] == last);
    CHECK(expected[4] == most);
    CHECK(expected[6] == expected[8]);
    CHECK(expected[7] == expected[8]);
    for (const int threads : {2, 16, 33}) CHECK(results(threads) == expected);
  }
  set_thread_count(before);
}

TEST_CASE("scatter, index_fill and clamp convert numbers to the tensor's dtype") {
  const Tensor counts = Tensor::from<int64_t>(std::vector<int64_t>{1, 2, 3}, {3});
  CHECK(list(scatter(counts, 0, ids({0}), Tensor::number(int64_t(9)))) == List{9, 2, 3});
  CHECK(contains(error_of([&] { scatter(counts, 0, ids({0}), Tensor::number(0.5)); }),
                 "scatter: 0.5 cannot be"));
  CHECK(list(index_fill(zeros({2, 2}, DType::f16), 1, ids({1}), Tensor::number(0.5))) ==
        List{0, 0.5, 0, 0.5});
  CHECK(contains(error_of([&] { index_fill(counts, 0, ids({0}), zeros({})); }),
                 "index_fill: the value is f32"));
}

TEST_CASE("einsum agrees with loops, and passes transposed operands without a copy") {
  const Tensor a = reals({1, 2, 3, 4, 5, 6}, {2, 3}), b = reals({1, -1, 2, 0, 3, 1}, {3, 2});
  CHECK(list(einsum("ij,jk->ki", {a, b})) == list(t(matmul(a, b))));
  CHECK(list(einsum("ij,jk", {a, b})) == list(matmul(a, b)));
  CHECK(list(einsum("ba", {a})) == list(t(a)));
  CHECK(einsum("ba", {a}).storage_ref() == a.storage_ref());
  CHECK(einsum("ij->", {a}).item() == 21);
  CHECK(list(einsum("ii->i", {reals({1, 2, 3, 4}, {2, 2})})) == List{1, 4});
  CHECK(einsum("ii", {reals({1, 2, 3, 4}, {2, 2})}).item() == 5);
  CHECK(einsum("...ij->...ji", {zeros({5, 2, 3})}).shape() == Shape{5, 3, 2});
  CHECK(list(einsum("...i->i", {ones({5, 2, 3})})) == List{10, 10, 10});
  CHECK(list(einsum("Ba,aB", {a, b})) == List{16});
  // An empty sum is 0.
  CHECK(list(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 2})})) == List{0, 0, 0, 0});

  // Operands of different sizes are contracted in the cheapest order, with the same result.
  const Tensor u = reals({1, 2}, {2}), v = reals({3, 4, 5}, {3}), w = reals({1, 0, 2}, {3});
  CHECK(einsum("i,ij,j->", {u, a, v}).item() == 1 * (3 + 8 + 15) + 2 * (12 + 20 + 30));
  CHECK(list(einsum("i,ij,j,j->i", {u, a, v, w})) == List{33, 144});
}

TEST_CASE("multinomial without replacement gives different indices that follow the weights") {
  context().generator.seed(5);
  const int64_t rows = 20000;
  const Tensor weights = expand(reals({1, 0, 2, 5}, {4}), {rows, 4});
  const std::vector<int64_t> drawn = multinomial(weights, 2).to_vector<int64_t>();
  double first[4] = {}, second_after_3 = 0, after_3 = 0;
  for (size_t i = 0; i < size_t(rows); ++i) {
    REQUIRE(drawn[2 * i] != drawn[2 * i + 1]);
    REQUIRE((drawn[2 * i] != 1 && drawn[2 * i + 1] != 1));
    first[drawn[2 * i]] += 1.0 / double(rows);
    after_3 += drawn[2 * i] == 3;
    second_after_3 += drawn[2 * i] == 3 && drawn[2 * i + 1] == 2;
  }
  CHECK(first[0] == doctest::Approx(0.125).epsilon(0.06));
  CHECK(first[2] == doctest::Approx(0.25).epsilon(0.05));
  CHECK(first[3] == doctest::Approx(0.625).epsilon(0.03));
  CHECK(second_after_3 / after_3 == doctest::Approx(2.0 / 3).epsilon(0.03));

  double counts[4] = {};
  for (const int64_t i : multinomial(reals({1, 0, 2, 5}, {4}), rows, true).to_vector<int64_t>())
    counts[i] += 1.0 / double(rows);
  CHECK(counts[1] == 0);
  CHECK(counts[3] == doctest::Approx(0.625).epsilon(0.03));
  CHECK(contains(error_of([] { multinomial(reals({1, 0, 0}, {3}), 2); }), "from 1 categories with a weight"));
  CHECK(contains(error_of([] { multinomial(reals({1, NAN}, {2}), 1); }), "must be finite and not negative"));
}

TEST_CASE("clamp between tensors passes the gradient to the operand that is the result") {
  Tensor x = reals({-2, 0.5, 2}, {3}).requires_grad_(), low = reals({-1, 0, 0}, {3}).requires_grad_();
  Tensor high = reals({1, 1, 1}, {3}).requires_grad_();
  backward(sum(apply1(*find_op("_clamp_bounds"), {x, low, high})));
  CHECK(list(x.grad()) == List{0, 1, 0});
  CHECK(list(low.grad()) == List{1, 0, 0});
  CHECK(list(high.grad()) == List{0, 0, 1});
  // At the bounds x gets the gradient.
  Tensor edge = reals({-1, 1}, {2}).requires_grad_();
  backward(sum(clamp_max(clamp_min(edge, Tensor::number(-1.0)), Tensor::number(1.0))));
  CHECK(list(edge.grad()) == List{1, 1});
}

TEST_CASE("repeated tensors own their memory") {
  const Tensor x = ones({2, 2});
  for (const Tensor& y : {tile(x, {1, 1}), repeat_interleave(x, 1, 0), pad(x, {0, 0}, PadMode::reflect),
                          cumprod(reshape(x, {4, 1}), 1)})
    CHECK(y.storage_ref() != x.storage_ref());
  CHECK(list(tile(reals({1, 2}, {2}), {2, 2})) == List{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(list(repeat_interleave(reals({1, 2}, {2}), ids({2, 1}), 0)) == List{1, 1, 2});
  CHECK(tile(x, {0}).shape() == Shape{2, 0});
  CHECK(repeat_interleave(x, 0, 1).shape() == Shape{2, 0});
  CHECK(tile(zeros({1, 1, 1, 1, 1, 1, 1, 2}), {2, 2, 2, 2, 2, 2, 2, 2}).numel() == 512);
}
