// Running extremes, searches, writes that combine and Poisson numbers on the Vulkan device: the CPU's
// results, for all types, rows of any length, and values that are NaN, infinite or equal.
#include <bit>

#include "tests/gpu/compare.h"
#include "tests/support/message_of.h"

namespace lunagrad::tests {
namespace {

// Whole numbers of a small range, so that many are equal; some floats are NaN, infinite or -0.
Tensor numbers_to_scan(const Shape& shape, uint64_t stream, DType type) {
  Tensor x = floor(random(shape, stream, 0, 9));
  if (is_floating(type)) {
    const Tensor odd = random(shape, stream + 50, 0, 200);
    x = x - 4.0;
    x = where(lt(odd, Tensor::number(1.0)), Tensor::number(NAN), x);
    x = where(gt(odd, Tensor::number(197.0)), Tensor::number(INFINITY), x);
    x = where(lt(abs(odd - 100.0), Tensor::number(1.0)), Tensor::number(-INFINITY), x);
    x = where(eq(x, Tensor::number(1.0)), Tensor::number(-0.0), x);
  }
  return to(x, type);
}

const Arrangement kLayouts[] = {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced};

TEST_CASE("running extremes are the CPU's, with their places") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 1;
  for (const DType type : kRealTypes)
    for (const auto& [shape, dim] : {std::pair<Shape, int>{{}, 0},
                                     {{1}, 0},
                                     {{7}, 0},
                                     {{3, 1500}, 1},
                                     {{2, 1025}, 1},
                                     {{2, 2048}, 1},
                                     {{2, 9004}, 1},
                                     {{700, 3}, 0},
                                     {{2, 40, 3}, 1},
                                     {{0, 4}, 1},
                                     {{4, 0}, 1}}) {
      const Tensor x = numbers_to_scan(shape, ++stream, type);
      for (const char* name : {"cummax", "cummin"})
        for (const Arrangement layout : kLayouts) {
          const Operands here = apply(*find_op(name), {x}, {dim}),
                         there = apply(*find_op(name), {arrange(x, layout)}, {dim});
          for (const size_t i : {0, 1})
            CHECK_MESSAGE(words(there[i]) == words(here[i]),
                          text(name, ' ', type, ' ', shape, " result ", i, " layout ", int(layout)));
        }
    }
  require_none(fallbacks);
}

TEST_CASE("running log-sum-exp is the CPU's in double precision, from both ends") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Op& op = *find_op("_logcumsumexp");
  for (const auto& [shape, dim] :
       {std::pair<Shape, int>{{}, 0}, {{1}, 0}, {{3, 5000}, 1}, {{300, 3}, 0}, {{2, 40, 3}, 1}})
    for (const bool special : {false, true})
      for (const bool reverse : {false, true}) {
        const Tensor x = special ? numbers_to_scan(shape, 3, DType::f32) : random(shape, 4, -30, 40);
        const Tensor expected = to(apply1(op, {to(x, DType::f64)}, {dim, reverse}), DType::f32);
        for (const Arrangement layout : kLayouts)
          CHECK_MESSAGE(distance(apply1(op, {arrange(x, layout)}, {dim, reverse}), expected) < 1e-6,
                        text(shape, special ? " special" : "", reverse ? " reverse" : ""));
      }
  require_none(fallbacks);
}

TEST_CASE(
    "running sums of 16-bit elements have the bits of f32 elements, rounded once, and run without a cast") {
  const Op& op = *find_op("_cumsum");
  uint64_t stream = 300;
  for (const DType type : {DType::bf16, DType::f16})
    for (const auto& [shape, dim] : {std::pair<Shape, int>{{}, 0},
                                     {{7}, 0},
                                     {{3, 1500}, 1},
                                     {{2, 20001}, 1},
                                     {{2, 20004}, 1},
                                     {{700, 40}, 0},
                                     {{2, 41, 3}, 1},
                                     {{0, 4}, 1},
                                     {{4, 0}, 1}})
      for (const auto& [exclusive, reverse] : {std::pair{false, false}, {true, false}, {false, true}}) {
        ++stream;
        const Arrangement layout = kLayouts[(stream + stream / 3) % 3];
        INFO(text(type, ' ', shape, exclusive ? " exclusive" : "", reverse ? " reverse" : ""));
        const Tensor x = to(random(shape, stream), type);
        const Values params = {dim, exclusive, reverse};
        const auto run = [&](DType computed) {
          // Of the same layout, which decides the order of the sums.
          const Tensor in = arrange(to(x, computed), layout).detach().requires_grad_();
          const Tensor y = apply1(op, {in}, params);
          backward(y, full(y.shape(), 0.375, computed, gpu()));
          return Operands{y, in.grad()};
        };
        const Operands wide = run(DType::f32);
        const Fallbacks fallbacks;
        const Operands got = run(type), again = run(type);
        CHECK(fallbacks.casts == 0);
        CHECK(fallbacks.ops.empty());
        for (size_t i = 0; i < 2; ++i) {
          CHECK(words(got[i]) == words(to(wide[i], type)));
          CHECK(words(again[i]) == words(got[i]));
        }
        CHECK(distance(got[0], apply1(op, {to(x, DType::f64)}, params)) <
              (type == DType::bf16 ? 0x1p-8 : 0x1p-11) * 1.01);
      }
}

TEST_CASE("values are found in sorted rows as on the CPU") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Op& op = *find_op("searchsorted");
  uint64_t stream = 100;
  for (const DType type : kRealTypes)
    for (const auto& [rows, values] : {std::pair<Shape, Shape>{{1}, {5}},
                                       {{33}, {}},
                                       {{100}, {2, 300}},
                                       {{3, 70}, {3, 11}},
                                       {{2, 3, 8}, {2, 3, 1}},
                                       {{0}, {4}}}) {
      ++stream;
      const Tensor row = numbers_to_scan(rows, stream, type),
                   wanted = numbers_to_scan(values, stream + 500, type);
      const Tensor sequence = type == DType::boolean ? row : sort(row, -1).first;
      for (const bool right : {false, true}) {
        const Values params = {false, right, {}};
        const Tensor here = apply1(op, {sequence, wanted}, params);
        for (const Arrangement layout : kLayouts)
          CHECK_MESSAGE(
              words(apply1(op, {arrange(sequence, layout), arrange(wanted, layout)}, params)) == words(here),
              text(type, ' ', rows, ' ', values));
      }
    }
  const Tensor edges = to(Tensor::from<float>(std::vector<float>{-1, 0, 1}, {3}), gpu());
  CHECK(words(apply1(*find_op("bucketize"), {Tensor::number(0.0), edges}, {false, true})) ==
        std::vector<int64_t>{2});
  require_none(fallbacks);
}

TEST_CASE("products and extremes are scattered as on the CPU") {
  const NoGrad off;
  const Fallbacks fallbacks;
  uint64_t stream = 1000;
  for (const DType type : kRealTypes) {
    if (type == DType::boolean) continue;
    for (const auto& [shape, from, dim] : {std::tuple<Shape, Shape, int>{{4}, {50}, 0},
                                           {{3, 5}, {3, 40}, 1},
                                           {{6, 2, 3}, {9, 2, 2}, 0},
                                           {{}, {}, 0},
                                           {{3}, {0}, 0}}) {
      ++stream;
      const Tensor x = numbers_to_scan(shape, stream, type), source = numbers_to_scan(from, stream + 5, type);
      const double size = shape.empty() ? 1 : double(shape[dim]);
      const Tensor index = to(floor(random(from, stream + 9, 0, size)), DType::i64);
      for (const char* reduce : {"prod", "amax", "amin"})
        for (const bool self : {false, true}) {
          const Op& op = *find_op("scatter_reduce");
          const auto word = [&] {
            for (size_t i = 0; i < op.params[1].choices.size(); ++i)
              if (std::string(op.params[1].choices[i]) == reduce) return int64_t(i);
            return int64_t(-1);
          };
          const Values params = {dim, word(), self};
          const Tensor here = apply1(op, {x, index, source}, params);
          for (const Arrangement layout : kLayouts) {
            const Tensor there =
                apply1(op, {arrange(x, layout), arrange(index, layout), arrange(source, layout)}, params);
            CHECK_MESSAGE(words(there) == words(here), text(type, ' ', shape, ' ', reduce));
          }
        }
    }
  }
  require_none(fallbacks);
  const Tensor x = to(random({3}, 1), gpu()),
               wrong = to(Tensor::from<int64_t>(std::vector<int64_t>{1, 3}, {2}), gpu());
  const std::string error = error_of([&] {
    apply1(*find_op("_scatter_reduce"), {x, wrong, to(random({2}, 2), gpu())}, {0, 0}).to_vector<float>();
  });
  CHECK(error.find("scatter_reduce: index 3 at position 2 is out of range") == 0);
}

// Longer than the part of a lane that one dispatch processes.
TEST_CASE("long lanes of indices are processed to their end, in order") {
  const NoGrad off;
  const int64_t n = 100000;
  const Tensor index =
      to(remainder(arange(0, double(n), 1, DType::i64), Tensor::number(int64_t(3))), DType::i64);
  const Tensor order = arange(0, double(n), 1, DType::i64), zero = zeros({3}, DType::i64);
  const Tensor there = to(index, gpu()), source = to(order, gpu()), target = to(zero, gpu());
  CHECK(words(scatter_add(target, 0, there, source)) == words(scatter_add(zero, 0, index, order)));
  CHECK(words(scatter(target, 0, there, source)) == std::vector<int64_t>{n - 1, n - 3, n - 2});
  CHECK(words(gather(scatter(target, 0, there, source), 0, there)) ==
        words(gather(scatter(zero, 0, index, order), 0, index)));
  const Op& op = *find_op("_scatter_reduce");
  CHECK(words(apply1(op, {target, there, source}, {0, 1})) == std::vector<int64_t>{n - 1, n - 3, n - 2});
}

TEST_CASE("Poisson numbers are the CPU's, bit for bit") {
  const NoGrad off;
  const Op& op = *find_op("poisson");
  const Fallbacks fallbacks;
  const auto draw = [&](const Tensor& rates) {
    context().generator.seed(5);
    apply1(op, {rates});  // advances to the next stream
    return apply1(op, {rates});
  };
  for (const DType type : {DType::f32, DType::f16, DType::bf16})
    for (const double most : {0.0, 1e-3, 3.0, 12.0, 60.0, 1000.0, 60000.0}) {
      const Tensor rates = to(random({5000}, 1, 0, most), type);
      CHECK_MESSAGE(words(draw(to(rates, gpu()))) == words(draw(rates)), text(type, " to ", most));
    }
  for (const Tensor& rates :
       {full({100}, 1e30, DType::f32), random({3, 70000}, 2, 0, 30), full({}, 5, DType::f32)})
    CHECK(words(draw(arrange(rates, Arrangement::sliced))) == words(draw(rates)));
  if (fallbacks.ops.empty())  // else the device lacks double precision
    for (const double bad : {-1.0, double(INFINITY), double(NAN)}) {
      const Tensor rates = full({1}, bad, DType::f32);
      CHECK(error_of([&] { apply1(op, {to(rates, gpu())}).to_vector<float>(); }) ==
            error_of([&] { apply1(op, {rates}); }));
    }
}

}  // namespace
}  // namespace lunagrad::tests
