// Random numbers: the published test vectors of Philox, equal numbers for any division of the work, moments
// and distributions, and the masks of dropout.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/ops/random/cpu/random.h"
#include "runtime/tape/tape.h"

using namespace lunagrad;

namespace {

void reseed(uint64_t seed) { context().generator.seed(seed); }

// The sum of (observed - expected)^2 / expected.
double chi_square(const std::vector<double>& observed, const std::vector<double>& expected) {
  double total = 0;
  for (size_t i = 0; i < observed.size(); ++i)
    total += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
  return total;
}

}  // namespace

TEST_CASE("Philox gives the known answers of its authors' test suite") {
  CHECK(philox(0, 0, 0) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint64_t ones = ~uint64_t(0);
  CHECK(philox(ones, ones, ones) == PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("SIMD and scalar Philox give equal words, also where the counter carries") {
  for (const uint64_t first : {uint64_t(0), uint64_t(1), uint64_t(0xfffffff0), uint64_t(0x1fffffff5)})
    for (const int64_t blocks : {1, 7, 16, 33}) {
      std::vector<uint32_t> words(size_t(4 * blocks));
      philox_words({0x123456789abcdef, 42}, first, blocks, words.data());
      for (int64_t i = 0; i < blocks; ++i) {
        const PhiloxBlock block = philox(0x123456789abcdef, 42, first + uint64_t(i));
        for (size_t k = 0; k < 4; ++k) REQUIRE(words[size_t(4 * i) + k] == block[k]);
      }
    }
}

TEST_CASE("normals follow Box and Muller, within 4 ULP of double precision") {
  reseed(3);
  const RandomDraw draw = Generator(3).draw();
  const int64_t n = 100001;
  const std::vector<double> values = randn({n}).to_vector<double>();
  double worst = 0;
  for (int64_t i = 0; i < n; i += 2) {
    const PhiloxBlock block = philox(draw.seed, draw.stream, uint64_t(i / 4));
    const double u = (double(block[size_t(i % 4)] >> 8) + 1) * 0x1p-24;
    const double t = 2 * std::numbers::pi * double(block[size_t(i % 4 + 1)] >> 8) * 0x1p-24;
    const double r = std::sqrt(-2 * std::log(u));
    const double expected[] = {r * std::cos(t), r * std::sin(t)};
    for (int k = 0; k < 2 && i + k < n; ++k) {
      const float exact = float(expected[k]);
      const double ulp = std::abs(double(std::nextafter(exact, INFINITY)) - double(exact));
      worst = std::max(worst, std::abs(values[size_t(i + k)] - expected[k]) / std::max(ulp, 0x1p-26));
    }
  }
  CHECK(worst < 4);
}

TEST_CASE("uniform numbers are in [0, 1) in every dtype and evenly distributed") {
  reseed(5);
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const int64_t n = 1 << 18;
    const std::vector<double> values = rand({n}, dtype).to_vector<double>();
    std::vector<double> counts(16);
    for (const double value : values) {
      REQUIRE((value >= 0 && value < 1));
      ++counts[size_t(value * 16)];
    }
    // 15 degrees of freedom: 50 is exceeded once in 80,000 draws.
    CHECK(chi_square(counts, std::vector<double>(16, double(n) / 16)) < 50);
  }
}

TEST_CASE("normal numbers have mean 0, deviation 1 and kurtosis 3, and adjacent ones do not correlate") {
  reseed(6);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const int64_t n = 1 << 20;
    const std::vector<double> z = randn({n}, dtype).to_vector<double>();
    double mean = 0, square = 0, fourth = 0, neighbours = 0;
    for (size_t i = 0; i < z.size(); ++i) {
      mean += z[i];
      square += z[i] * z[i];
      fourth += z[i] * z[i] * z[i] * z[i];
      if (i) neighbours += z[i] * z[i - 1];
    }
    const double deviation = 1 / std::sqrt(double(n));  // of the mean
    CHECK(std::abs(mean / double(n)) < 5 * deviation);
    CHECK(std::abs(square / double(n) - 1) < 5 * std::sqrt(2.0) * deviation);
    CHECK(std::abs(fourth / double(n) - 3) < 5 * std::sqrt(96.0) * deviation);
    CHECK(std::abs(neighbours / double(n)) < 5 * deviation);
  }
}

TEST_CASE("a draw depends only on seed and stream, not on threads or the number of elements") {
  const int threads = thread_count();
  std::vector<double> first;
  for (const int count : {1, 2, 3}) {
    set_thread_count(count);
    reseed(9);
    const std::vector<double> values = randn({200001}).to_vector<double>();
    if (first.empty()) first = values;
    CHECK(first == values);
  }
  set_thread_count(threads);
  reseed(9);
  const std::vector<double> few = randn({77}).to_vector<double>();
  CHECK(std::equal(few.begin(), few.end(), first.begin()));
  CHECK(randn({77}).to_vector<double>() != few);
  reseed(10);
  CHECK(randn({77}).to_vector<double>() != few);
}

TEST_CASE("randint covers small, large and negative ranges evenly") {
  reseed(11);
  std::vector<double> counts(6);
  for (const int64_t value : randint(-2, 4, {60000}).to_vector<int64_t>()) {
    REQUIRE((value >= -2 && value < 4));
    ++counts[size_t(value + 2)];
  }
  CHECK(chi_square(counts, std::vector<double>(6, 10000)) < 30);  // 5 degrees of freedom: once in 70,000
  const int64_t huge = int64_t(1) << 62;
  double total = 0;
  for (const int64_t value : randint(-huge, huge, {10000}).to_vector<int64_t>()) {
    REQUIRE((value >= -huge && value < huge));
    total += double(value) / double(huge);
  }
  CHECK(std::abs(total / 10000) < 5 / std::sqrt(3.0 * 10000));
}

TEST_CASE("randperm is a permutation, with every position equally likely for each element") {
  reseed(12);
  const std::vector<int64_t> order = randperm(1000).to_vector<int64_t>();
  CHECK(std::set<int64_t>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::max_element(order.begin(), order.end()) == 999);
  std::vector<double> counts(16);
  for (int i = 0; i < 4000; ++i) {
    const std::vector<int64_t> four = randperm(4).to_vector<int64_t>();
    for (size_t k = 0; k < 4; ++k) ++counts[k * 4 + size_t(four[k])];
  }
  CHECK(chi_square(counts, std::vector<double>(16, 1000)) < 45);
  CHECK(randperm(0).shape() == Shape{0});
  for (const int64_t n : {33, 70001, 300007}) {  // batches and pieces that are not full
    const std::vector<int64_t> long_order = randperm(n).to_vector<int64_t>();
    std::vector<bool> seen(static_cast<size_t>(n));
    for (const int64_t i : long_order) seen.at(size_t(i)) = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == n);
  }
}

TEST_CASE("multinomial does not depend on the number of threads") {
  const int threads = thread_count();
  const Tensor weights = rand({200, 500});
  for (const bool replacement : {false, true}) {
    std::vector<int64_t> first;
    for (const int count : {1, 3}) {
      set_thread_count(count);
      reseed(3);
      const std::vector<int64_t> drawn = multinomial(weights, 7, replacement).to_vector<int64_t>();
      if (first.empty()) first = drawn;
      CHECK(first == drawn);
    }
  }
  set_thread_count(threads);
}

TEST_CASE("bernoulli uses each element's own probability") {
  reseed(13);
  const int64_t n = 100000;
  const Tensor p = expand(reshape(Tensor::from<float>(std::vector<float>{0, 0.25f, 1}, {3}), {1, 3}), {n, 3});
  const std::vector<double> rates = mean(bernoulli(p), {0}).to_vector<double>();
  CHECK(rates[0] == 0);
  CHECK(std::abs(rates[1] - 0.25) < 5 * std::sqrt(0.25 * 0.75 / double(n)));
  CHECK(rates[2] == 1);
  CHECK_THROWS_WITH(bernoulli(full({1}, 1.5)), "bernoulli: a probability must lie in [0, 1] (got 1.5)");
}

TEST_CASE("bernoulli names the first number that is not a probability") {
  Tensor p = full({5000}, 0.5);
  copy_(select(p, 0, 1700), Tensor::number(std::nan("")));
  copy_(select(p, 0, 4100), Tensor::number(1.5));
  CHECK_THROWS_WITH(bernoulli(p), "bernoulli: a probability must lie in [0, 1] (got nan)");
  copy_(select(p, 0, 1700), Tensor::number(0.0));
  CHECK_THROWS_WITH(bernoulli(p), "bernoulli: a probability must lie in [0, 1] (got 1.5)");
}

TEST_CASE("dropout keeps a share of 1 - p, scales it, and its gradient has the same mask") {
  reseed(0);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16})
    for (const double p : {0.1, 0.5, 0.9}) {
      const int64_t n = 200000;
      Tensor x = full({n}, 1.0, dtype);
      x.requires_grad_();
      const Tensor y = dropout(x, p);
      backward(sum(y));
      CHECK(x.grad().to_vector<double>() == y.to_vector<double>());
      int64_t kept = 0;
      for (const double value : y.to_vector<double>()) {
        REQUIRE((value == 0 || std::abs(value * (1 - p) - 1) < (dtype == DType::bf16 ? 4e-3 : 1e-6)));
        kept += value != 0;
      }
      CHECK(std::abs(double(kept) / double(n) - (1 - p)) < 5 * std::sqrt(p * (1 - p) / double(n)));
    }
}

TEST_CASE("the masks of different steps are independent") {
  reseed(15);
  const int64_t n = 1 << 16;
  const double p = 0.5;
  const Tensor x = ones({n});
  std::vector<std::vector<double>> masks;
  for (int step = 0; step < 16; ++step) masks.push_back(dropout(x, p).to_vector<double>());
  std::set<size_t> kept_counts;
  for (const auto& mask : masks) kept_counts.insert(size_t(std::count(mask.begin(), mask.end(), 0.0)));
  CHECK(kept_counts.size() > 8);  // permutations of one mask would all have the same count
  for (int a = 0; a < 16; ++a)
    for (int b = a + 1; b < 16; ++b) {
      std::vector<double> joint(4);
      for (size_t i = 0; i < size_t(n); ++i) ++joint[size_t(masks[a][i] != 0) * 2 + size_t(masks[b][i] != 0)];
      // 3 degrees of freedom, 120 pairs: 28 is exceeded in one of 2,500 runs.
      CHECK(chi_square(joint, std::vector<double>(4, double(n) / 4)) < 28);
      // Nor is one mask the other one with indices permuted by an exclusive or.
      for (const size_t shift : {1, 5, 64}) {
        double equal = 0;
        for (size_t i = 0; i < size_t(n); ++i) equal += (masks[a][i] != 0) == (masks[b][i ^ shift] != 0);
        CHECK(std::abs(equal / double(n) - 0.5) < 6 * 0.5 / std::sqrt(double(n)));
      }
    }
}

TEST_CASE("dropout outside training or with p = 0 returns the input; p = 1 drops all; any layout works") {
  const Tensor x = randn({30, 70});
  CHECK(dropout(x, 0.5, false).same(x));
  CHECK(dropout(x, 0).same(x));
  CHECK(dropout(full({3}, double(INFINITY)), 1).to_vector<double>() == std::vector<double>(3, 0));
  CHECK_THROWS_WITH(dropout(x, -0.1), "dropout: p must lie in [0, 1] (got -0.1)");
  reseed(16);
  const std::vector<double> straight = dropout(x, 0.3).to_vector<double>();
  reseed(16);
  CHECK(dropout(transpose(clone(transpose(x, 0, 1)), 0, 1), 0.3).to_vector<double>() == straight);
  CHECK(dropout(zeros({0, 3}), 0.5).shape() == Shape{0, 3});
}

TEST_CASE("creation ops give the right values in every dtype") {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i64, DType::i32, DType::u8}) {
    CHECK(full({2}, 3.0, dtype).to_vector<double>() == std::vector<double>{3, 3});
    CHECK(arange(0, 5, 2, dtype).to_vector<double>() == std::vector<double>{0, 2, 4});
    CHECK(eye(2, 3, dtype).to_vector<double>() == std::vector<double>{1, 0, 0, 0, 1, 0});
  }
  CHECK(full({1}, int64_t(9007199254740993), DType::i64).item_integer() == 9007199254740993);
  CHECK(full({1}, true, DType::boolean).item() == 1);
  CHECK(arange(1, 0, -0.25, DType::f64).to_vector<double>() == std::vector<double>{1, 0.75, 0.5, 0.25});
  CHECK(arange(3, 3, 1, DType::f32).numel() == 0);
  CHECK(linspace(0, 1, 5).to_vector<double>() == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
  CHECK(linspace(2, 7, 1).to_vector<double>() == std::vector<double>{2});
  CHECK(linspace(2, 7, 0).numel() == 0);
  CHECK(zeros({0, 3}).shape() == Shape{0, 3});
  CHECK(ones({}).item() == 1);
  const Tensor m = arange(1, 10, 1, DType::f32);
  CHECK(tril(reshape(m, {3, 3})).to_vector<double>() == std::vector<double>{1, 0, 0, 4, 5, 0, 7, 8, 9});
  CHECK(triu(reshape(m, {3, 3}), 1).to_vector<double>() == std::vector<double>{0, 2, 3, 0, 0, 6, 0, 0, 0});
  CHECK(tril(reshape(m, {1, 9}), -1).to_vector<double>() == std::vector<double>(9, 0));
}
