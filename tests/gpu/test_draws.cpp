// Random numbers on the Vulkan device equal the CPU's, in all types and sizes.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {
namespace {

// The results of one random op on the CPU and on the device.
template <class F>
std::pair<Tensor, Tensor> draw_on_both(F&& draw) {
  context().generator.seed(uint64_t(0x123456789abcdef0));
  const Tensor here = draw(cpu_device());
  context().generator.seed(uint64_t(0x123456789abcdef0));
  return {here, draw(gpu())};
}

TEST_CASE("permutations of any length equal the CPU's") {
  const Fallbacks fallbacks;
  for (const int64_t n : {1, 2, 7, 1000, (1 << 20) + 3}) {
    const auto [here, there] = draw_on_both([&](Device& device) { return randperm(n, device); });
    CHECK_MESSAGE(there.to_vector<int64_t>() == here.to_vector<int64_t>(), n << " elements");
  }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("random numbers of narrow and complex types and integers of wide ranges equal the CPU's") {
  const Fallbacks fallbacks;
  for (const int64_t count : {1, 6, 5001}) {
    for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::c64}) {
      const auto [here, there] = draw_on_both([&](Device& device) { return rand({count}, type, device); });
      CHECK_MESSAGE(distance(there, here) == 0, "rand of " << type);
      const auto normal = draw_on_both([&](Device& device) { return randn({count}, type, device); });
      CHECK_MESSAGE(distance(normal.second, normal.first) < (is_16bit_float(type) ? 1e-3 : 1e-6),
                    "randn of " << type);
    }
    for (const auto& [low, high] :
         {std::pair<int64_t, int64_t>{-5, 1000},
          {0, int64_t(1) << 32},
          {-7, int64_t(1) << 40},
          {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}}) {
      for (const DType type : {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::f32}) {
        const auto [here, there] = draw_on_both([&, low = low, high = high](Device& device) {
          return randint(low, high, {count}, type, device);
        });
        CHECK_MESSAGE(there.to_vector<double>() == here.to_vector<double>(),
                      type << " from " << low << " to " << high);
      }
    }
  }
  CHECK(fallbacks.ops.empty());
}

TEST_CASE("multinomial equals the CPU's, with and without replacement") {
  const NoGrad off;
  const Fallbacks fallbacks;
  for (const int64_t n : {1, 2, 5, 300, 2048, 5000, 70000}) {
    Tensor weights = random({3, n}, 1, 0, 1);
    if (n > 4)  // some that are never drawn
      for (int64_t i = 0; i < n; i += 3) weights.data<float>()[i] = 0;
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      const Tensor typed = to(weights, type);
      for (const bool replacement : {false, true}) {
        for (const int64_t samples : {int64_t(1), replacement ? 2 * n : (n + 1) / 2}) {
          const auto [here, there] = draw_on_both([&, count = samples](Device& device) {
            return multinomial(to(typed, device), count, replacement);
          });
          CHECK_MESSAGE(there.to_vector<int64_t>() == here.to_vector<int64_t>(),
                        samples << " of " << n << " by " << type << (replacement ? " with" : " without")
                                << " replacement");
        }
      }
    }
  }
  CHECK(multinomial(to(random({7}, 1, 0, 1), gpu()), 3, false).shape() == Shape{3});
  CHECK(fallbacks.ops.empty());
  const auto draw = [](std::vector<float> weights, int64_t samples, bool replacement) {
    return multinomial(Tensor::from<float>(weights, {int64_t(weights.size())}, gpu()), samples, replacement)
        .to_vector<int64_t>();
  };
  CHECK_THROWS_WITH_AS(draw({1, -2, 3}, 1, true),
                       "multinomial: a weight must be finite and not negative (got -2)", Error);
  CHECK_THROWS_WITH_AS(draw({1, INFINITY}, 1, false),
                       "multinomial: a weight must be finite and not negative (got inf)", Error);
  CHECK_THROWS_WITH_AS(draw({0, 0, 0}, 1, true), "multinomial: the weights of a row add up to 0", Error);
  CHECK_THROWS_WITH_AS(draw({1, 0, 3}, 3, false),
                       "multinomial: 3 samples without replacement from 2 categories with a weight", Error);
}

}  // namespace
}  // namespace lunagrad::tests
