// Groups with reductions of rows have the bits of eager calls.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/parallel.h"
#include "tests/support/deferred.h"
#include "tests/support/row_programs.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("written-out norms, softmax and losses give the same bits when their calls are deferred") {
  const Shape shapes[] = {{20, 1},   {9, 2},     {40, 7},    {3, 8, 63}, {16, 64},  {16, 65},
                          {4, 1000}, {17, 1025}, {16, 4097}, {1, 300},   {5, 4, 32}};
  for (const Shape& shape : shapes)
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (const bool hostile : {false, true})
        for (int which = 0; which < kWrittenOut; ++which) {
          INFO("program ", which, " ", shape, " ", dtype_name(type), " hostile ", hostile);
          const auto program = [&] {
            context().generator.seed(7);
            return written_out(which, shape, type, hostile, cpu_device());
          };
          const TensorList expected = program();
          const auto [got, report] = deferred(program);
          check_equal(got, expected, report);
          if (shape.back() > 1) CHECK(reduces_in_groups(report) > 0);
        }
}

TEST_CASE("random programs with reductions of rows give the same bits when their calls are deferred") {
  size_t reductions = 0;
  const unsigned programs = long_run() ? 5000 : 300;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    INFO("seed ", seed);
    const TensorList expected = random_row_program(seed, cpu_device());
    const auto [got, report] = deferred([&] { return random_row_program(seed, cpu_device()); });
    check_equal(got, expected, report);
    reductions += reduces_in_groups(report);
  }
  CHECK(reductions > programs);
}

TEST_CASE("a norm is one group, and its inner results get no memory") {
  const Tensor x = randn({64, 1024}), w = randn({1024});
  const auto norm = [&] { return TensorList{x * rsqrt(mean(x * x, {-1}, true) + 1e-6) * w}; };
  const TensorList expected = norm();
  const auto [got, report] = deferred(norm);
  check_equal(got, expected, report);
  CHECK(report.units == 1);
  CHECK(report.bytes_saved == 2 * uint64_t(x.nbytes()) + 3 * 64 * sizeof(float));
  CHECK(explain(report).find("mul mean add rsqrt mul mul") != std::string::npos);
}

TEST_CASE("a value that belongs to columns, or to rows of another length, does not join") {
  const Tensor x = randn({48, 48});
  const auto program = [&] {
    const Tensor means = mean(x * 2.0, {-1});  // [48]: as an operand it belongs to the columns
    const Tensor apart = x - means;
    const Tensor y = exp(reshape(apart, {24, 96}));
    return TensorList{apart, y, y - mean(y, {-1}, true), sum(apart, {0}), sum(apart)};
  };
  const TensorList expected = program();
  const auto [got, report] = deferred(program);
  check_equal(got, expected, report);
}

TEST_CASE("groups with reductions give the same bits with any number of threads") {
  const auto program = [&] {
    context().generator.seed(5);
    TensorList all;
    for (const int64_t columns : {5, 700, 3000})
      for (const Tensor& y : written_out(2, {301, columns}, DType::f32, false, cpu_device()))
        all.push_back(y);
    return all;
  };
  const int before = thread_count();
  const TensorList expected = program();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    const auto [got, report] = deferred(program);
    check_equal(got, expected, report);
  }
  set_thread_count(before);
}

TEST_CASE("a reduction of all elements ends a chain: the same bits, and the chain gets no memory") {
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const int64_t count : {int64_t(16000), 16 * kLongestRow, 17 * kLongestRow + 12345}) {
      INFO(count, " of ", dtype_name(type));
      context().generator.seed(3);
      const Tensor x = row_numbers({count}, type, count % 2, cpu_device());
      const Tensor y = row_numbers({count}, type, false, cpu_device());
      const auto losses = [&] {
        const Tensor apart = x - y;
        const Tensor squared = apart * apart;
        return TensorList{mean(squared), stddev(abs(apart)), amax(squared) * 2.0, sum(exp(neg(squared)))};
      };
      const TensorList expected = losses();
      const auto [got, report] = deferred(losses);
      check_equal(got, expected, report);
      CHECK(reduces_in_groups(report) == 4);
      CHECK(report.bytes_saved >= 5 * uint64_t(x.nbytes()));
    }
  const Tensor rows = row_numbers({16, kLongestRow + 77}, DType::f32, true, cpu_device());
  const auto program = [&] { return TensorList{amin(tanh(rows), {-1}), sum(rows * 3.0, {-1}, true) + 1.0}; };
  const TensorList expected = program();
  const auto [got, report] = deferred(program);
  check_equal(got, expected, report);
  CHECK(reduces_in_groups(report) == 2);
}

TEST_CASE("divided rows whose squares or sums leave the range of f64 are right in a group, too") {
  for (const double size : {1.0, 1e160, 1e-170, 1e304}) {
    INFO("size ", size);
    context().generator.seed(3);
    const Tensor x = randn({17 * kLongestRow + 345}, DType::f64);
    const auto program = [&] {
      const Tensor scaled = x * size;
      return TensorList{norm(scaled, 2), stddev(scaled * 0.5), mean(abs(scaled) * 1e3)};
    };
    const TensorList expected = program();
    for (const Tensor& y : expected) CHECK(std::isfinite(y.item()));
    const auto [got, report] = deferred(program);
    check_equal(got, expected, report);
    CHECK(reduces_in_groups(report) == 3);
  }
}
