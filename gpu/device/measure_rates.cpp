// Measures the rates of a device (device_rates.h) with ops of the engine.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "gpu/device/device.h"
#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Returns the shortest time of one call of `work` in ns, over rounds of at least a few ms each.
template <class F>
double shortest_time(Device& device, F&& work) {
  constexpr int kRounds = 5;
  constexpr double kRound = 5e6, kMostCalls = 1000;
  const auto round = [&](int calls) {
    device.sync();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work();
    device.sync();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls;
  };
  round(1);  // compiles the kernels
  const int calls = int(std::clamp(kRound / round(1), 1.0, kMostCalls));
  double shortest = round(calls);
  for (int i = 1; i < kRounds; ++i) shortest = std::min(shortest, round(calls));
  return shortest;
}

// Multiply-adds per ns of an [m, k] by [k, n] product, with the given plan or the device's own.
double product_rate(VulkanDevice& device, DType type, int64_t m, int64_t n, int64_t k,
                    const ProductPlan* plan = nullptr) {
  Call call;
  call.op = find_op("matmul");
  call.in = {to(randn({m, k}), type), to(randn({k, n}), type)};
  if (plan) device.set_plan(call, plan);
  const double time = shortest_time(device, [&] {
    Call again = call;
    lunagrad::run(again);
  });
  if (plan) device.set_plan(call, nullptr);
  return double(m) * double(n) * double(k) / time;
}

// Takes up to a few seconds and at most 1 GiB of the device's memory. Keeps the number of processors that the
// device reports, and estimates it if the device reports none. Changes the plans of two products and resets
// them. Throws the errors of the ops that it runs.
DeviceRates measured_rates(VulkanDevice& device, const PhysicalDevice& physical, const DeviceRates& before) {
  Context own;
  own.device = &device;
  own.matmul_precision = MatmulPrecision::highest;
  const UseContext use(own);
  const NoGrad off;
  const bool cpu = physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const int64_t side = cpu ? 512 : 4096;
  DeviceRates rates = before;

  const Tensor one = zeros({1});
  rates.launch = shortest_time(device, [&] { apply_in_place(elementwise_op(Row::add), {one, one}); });

  const int64_t count = cpu ? int64_t(4) << 20 : int64_t(64) << 20;  // number of f32 elements
  const Tensor from = zeros({count}), to_here = zeros({count});
  rates.bytes = 2.0 * 4 * double(count) / shortest_time(device, [&] { copy_(to_here, from); });

  const double f32 = product_rate(device, DType::f32, side, side, side);
  if (physical.processors == 0 && !cpu) {
    // A product of one tile runs on one processor.
    const ProductPlan whole{128, 128, 1};
    const double alone = product_rate(device, DType::f32, 128, 128, 16384, &whole);
    rates.processors = uint32_t(std::clamp(std::round(f32 / alone), 1.0, 4096.0));
  }
  rates.f32 = f32 / rates.processors;
  const MatrixUnits& units = physical.matrix_units;
  if (units.bfloat16 || units.float16)
    rates.matrix_units =
        product_rate(device, units.bfloat16 ? DType::bf16 : DType::f16, side, side, side) / rates.processors;
  return rates;
}

}  // namespace

std::string VulkanDevice::measure_rates() {
  const std::lock_guard guard(lock_);
  rates_ = measured_rates(*this, physical_, rates_);
  return text(describe(rates_), save_rates(rates_, rates_file(physical_)) ? "" : "; not kept");
}

}  // namespace lunagrad::gpu
