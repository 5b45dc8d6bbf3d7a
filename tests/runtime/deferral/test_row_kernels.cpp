// Norms, running sums and their gradients in groups have the bits of eager calls.
#include <doctest/doctest.h>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/parallel.h"
#include "tests/support/deferred.h"
#include "tests/support/row_programs.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("norms, running sums and log-sum-exps give the same bits when their calls are deferred") {
  const Shape shapes[] = {{20, 1},    {9, 2},     {40, 7},  {3, 8, 63},    {16, 64},  {16, 65}, {4, 1000},
                          {17, 1025}, {16, 4097}, {1, 300}, {2, 6, 11, 5}, {700, 33}, {0, 3},   {3, 0, 4}};
  for (const Shape& shape : shapes)
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (const bool hostile : {false, true})
        for (const bool twice : {false, true})
          for (int which = 0; which < kBuiltIn; ++which) {
            // The first leaf of the last program, and an empty one, has no second derivative.
            if (twice && (which == kBuiltIn - 1 || numel(shape) == 0)) continue;
            INFO("program ", which, " ", shape, " ", dtype_name(type), " hostile ", hostile, " twice ",
                 twice);
            const auto program = [&] {
              context().generator.seed(7);
              return built_in(which, shape, type, hostile, twice, cpu_device());
            };
            const TensorList expected = program();
            const auto [got, report] = deferred(program);
            check_equal(got, expected, report);
            // A loss over more elements stays alone: its row is too short to be split into parts.
            const bool is_long = which == 10 && numel(shape) > 16384;
            const bool has_rows = numel(shape) > 0 && shape.back() > 1 && shape[0] > 1;
            if (has_rows && !twice && !is_long) CHECK(reduces_in_groups(report) > 0);
          }
}

TEST_CASE("residual, layer norm and cast are one group, and so are their gradients") {
  const Tensor h = randn({512, 1024}), slope = to(randn({512, 1024}), DType::bf16);
  const Tensor x = randn({512, 1024}).requires_grad_();
  const Tensor w = randn({1024}).requires_grad_(), b = randn({1024}).requires_grad_();
  const auto forward = [&] { return to(layer_norm(x + h, {1024}, w, b), DType::bf16); };
  {
    const NoGrad off;
    const auto [got, report] = deferred([&] { return TensorList{forward()}; });
    check_equal(got, {forward()}, report);
    CHECK(report.units == 1);
    CHECK(report.bytes_saved == 2 * uint64_t(x.nbytes()));
    CHECK(explain(report).find("add layer_norm cast") != std::string::npos);
  }
  const auto gradients = [&] {
    const Tensor y = forward();
    TensorList all = grad({y * 0.5}, {x, w, b}, {slope});
    all.push_back(y);
    return all;
  };
  const auto [got, report] = deferred(gradients);
  check_equal(got, gradients(), report);
  CHECK(in_groups(report, "layer_norm") == 1);
  CHECK(in_groups(report, "_layer_norm_grad") == 1);
  CHECK(report.units == 1);
}

TEST_CASE("sums over rows are made in groups of any number of threads, and are read after them") {
  const auto program = [] {
    context().generator.seed(5);
    TensorList all;
    for (const Shape& shape :
         {Shape{301, 5}, Shape{48, 48}, Shape{3001, 70}, Shape{5, 1000}, Shape{20, 6, 33}}) {
      const int64_t columns = shape.back();
      const Tensor x = randn(shape).requires_grad_(), slope = randn(shape);
      const Tensor w = randn({columns}).requires_grad_(), c = randn({shape[1]}).requires_grad_();
      const Tensor y = layer_norm(exp(x), {columns}, w, w) * 2.0 + group_norm(x * 3.0, 1, c, c);
      const TensorList found = grad({y}, {x, w, c}, {slope});
      // The sums of a square matrix have as many elements as it has rows.
      all.push_back(tanh(found[0] * 0.5) + found[1] * sum(x * x, {-1}, true));
      all.push_back(found[1] * found[2].size(0) + found[1]);
      all.push_back(found[2]);
    }
    return all;
  };
  const int before = thread_count();
  const TensorList expected = program();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    check_equal(program(), expected, {});
    const auto [got, report] = deferred(program);
    check_equal(got, expected, report);
    CHECK(in_groups(report, "_layer_norm_grad") == 5);
    CHECK(in_groups(report, "_group_norm_grad") == 5);
  }
  set_thread_count(before);
}

TEST_CASE("what a norm reads beside its rows is computed before its group") {
  const Tensor x = randn({1, 3000}), w = randn({3000}), wide = randn({1, 3000});
  const auto program = [&] {
    const Tensor scale = w * 2.0;  // as many elements as all rows, since there is one row
    const Tensor shift = sum(wide * 3.0, {0});
    return TensorList{tanh(layer_norm(x * 3.0, {3000}, scale, shift)), rms_norm(scale, {3000}, scale) + 1.0};
  };
  const TensorList expected = program();
  const auto [got, report] = deferred(program);
  check_equal(got, expected, report);
  CHECK(in_groups(report, "layer_norm") == 1);
}

TEST_CASE("a loss of all elements ends a chain, which gets no memory") {
  static const Op& reduced = *find_op("_reduced_loss");
  for (const DType type : {DType::f32, DType::f64})
    for (const int64_t count : {int64_t(16000), 16 * kLongestRow, 17 * kLongestRow + 12345}) {
      INFO(count, " of ", dtype_name(type));
      const Tensor x = row_numbers({count}, type, count % 2, cpu_device());
      const Tensor y = row_numbers({count}, type, false, cpu_device());
      const auto losses = [&] {
        return TensorList{mse_loss(tanh(x * 2.0), sigmoid(y)), sum(exp(neg(abs(y)))),
                          apply1(reduced, {x + y, y}, {0, 1.0, true}) * 2.0};
      };
      const TensorList expected = losses();
      const auto [got, report] = deferred(losses);
      check_equal(got, expected, report);
      CHECK(reduces_in_groups(report) == 3);
      CHECK(report.bytes_saved >= 7 * uint64_t(x.nbytes()));
    }
}

TEST_CASE("views of another shape with elements in the same order stay in a group") {
  const Tensor x = randn({24, 6, 40}), w = randn({40}), bias = randn({6, 1}), wide = randn({12, 1});
  const auto program = [&] {
    const Tensor y = rms_norm(reshape(x * 2.0 + bias, {144, 40}), {40}, w);
    const Tensor z = reshape(y * sum(y, {-1}, true), {2, 12, 240}) - wide;
    return TensorList{layer_norm(reshape(exp(z), {24, 6, 40}) * bias, {40}), reshape(z, {5760}) + 1.0,
                      transpose(reshape(z, {144, 40}), 0, 1) * 2.0};
  };
  const TensorList expected = program();
  const auto [got, report] = deferred(program);
  check_equal(got, expected, report);
  CHECK(report.units == 2);  // the transposed operand has another order
  CHECK(in_groups(report, "rms_norm") + in_groups(report, "layer_norm") == 2);
}

TEST_CASE("norms whose rows do not lie in order, or are few and long, stay alone and say why") {
  const Tensor x = randn({600, 40}), w = randn({600}), rows = randn({3, 30000});
  const Tensor leaf = randn({600, 40}).requires_grad_(), scale = randn({40}).requires_grad_();
  const auto program = [&] {
    return TensorList{layer_norm(exp(transpose(x, 0, 1)) * 2.0, {600}, expand(narrow(w, 0, 0, 1), {600})),
                      rms_norm(rows * 2.0, {30000}), grad({sum(layer_norm(leaf, {40}, scale))}, {scale})[0],
                      grad({layer_norm(x, {40}, scale) * 2.0}, {scale}, {x})[0]};
  };
  const TensorList expected = program();
  const auto [got, report] = deferred(program);
  check_equal(got, expected, report);
  const std::string plan = explain(report);
  INFO(plan);
  CHECK(plan.find("Alone (its operands hold no whole rows, one after the other)") != std::string::npos);
  CHECK(plan.find("Alone (its rows are few and long, or groups have no kernel for its type)") !=
        std::string::npos);
  CHECK(plan.find("Alone (it makes sums over rows alone)") != std::string::npos);
}
