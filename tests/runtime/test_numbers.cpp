// Tensors as flat lists of numbers, and unique ids from several threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <set>
#include <thread>

#include "runtime/core/block_ids.h"
#include "runtime/core/device.h"
#include "runtime/core/numbers.h"

using namespace lunagrad;

TEST_CASE("numbers of a tensor read back, with two numbers per complex element") {
  const std::vector<double> numbers = {1, -2, 3.5, 0};
  const Tensor real = from_numbers(numbers, {4}, false, cpu_device());
  CHECK(real.dtype() == DType::f64);
  CHECK(numbers_of(real) == numbers);
  const Tensor complex = from_numbers(numbers, {2}, true, cpu_device());
  CHECK(complex.dtype() == DType::c128);
  CHECK(complex.to_vector<std::complex<double>>()[1] == std::complex<double>(3.5, 0));
  CHECK(numbers_of(complex) == numbers);
}

TEST_CASE("contraction weights are in [0.5, 1.5), and equal for equal streams") {
  const Tensor output = from_numbers(std::vector<double>(64), {32}, true, cpu_device());
  const std::vector<double> weights = numbers_of(contraction_weights(output, 1));
  CHECK(weights.size() == 64);
  for (const double weight : weights) CHECK((weight >= 0.5 && weight < 1.5));
  CHECK(numbers_of(contraction_weights(output, 1)) == weights);
  CHECK(numbers_of(contraction_weights(output, 2)) != weights);
}

TEST_CASE("block ids are unique over threads, and grow within each") {
  constexpr int kThreads = 4, kIds = 1000;
  std::vector<uint64_t> ids[kThreads];
  {
    std::vector<std::jthread> threads;
    for (auto& own : ids)
      threads.emplace_back([&own] {
        for (int i = 0; i < kIds; ++i) own.push_back(next_block_id<struct TestIds, 16>());
      });
  }
  std::set<uint64_t> all;
  for (const auto& own : ids) {
    CHECK(std::is_sorted(own.begin(), own.end()));
    all.insert(own.begin(), own.end());
  }
  CHECK(all.size() == size_t(kThreads) * kIds);
  CHECK(*all.begin() >= 1);
}
