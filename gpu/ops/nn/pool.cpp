// Max and average pooling, adaptive pooling, and their gradients, of f32, f16 and bf16
// (gpu/ops/nn/pool.comp).
#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"
#include "runtime/ops/nn/pool_geometry.h"

namespace lunagrad::gpu {
namespace {

using shaders::Pool;

struct PoolAxis {
  int32_t size, out_size;
  int32_t kernel, stride, padding, dilation;
  int32_t with_padding;
  Divisor by_size, by_out;
};
struct PoolArguments {
  uint64_t result, values, image, places;
  uint32_t count;
  int32_t divisor;
  PoolAxis axes[2];
};

bool supports_pool(const Call& call) {
  const DType type = call.input(0).dtype();
  if (type != DType::f32 && !is_16bit_float(type)) return false;
  for (const Tensor& x : call.in)
    if (x.dtype() != type) return false;
  return indexable(call.output()) && indexable(call.input(0));
}

PoolAxis axis_of(const PoolRule& rule) {
  return {int32_t(rule.in),           int32_t(rule.out),          int32_t(rule.kernel),
          int32_t(rule.stride),       int32_t(rule.padding),      int32_t(rule.dilation),
          int32_t(rule.with_padding), Divisor(uint32_t(rule.in)), Divisor(uint32_t(rule.out))};
}

// Most elements of a window along the axis.
uint64_t longest(const PoolRule& rule) {
  return uint64_t(rule.adaptive ? (rule.in + rule.out - 1) / rule.out + 1 : std::min(rule.kernel, rule.in));
}
// Whether windows do not overlap. A plane then divides into cells of one window each.
bool lie_apart(const PoolRule& rule) {
  return !rule.adaptive && rule.dilation == 1 && rule.stride >= rule.kernel;
}
// Whether the axis has a single window that covers it entirely and divides by its size.
bool is_whole(const PoolRule& rule) {
  if (rule.out != 1) return false;
  const PoolWindow window = pool_window(rule, 0);
  return window.start == 0 && window.count == rule.in && window.divisor == rule.in;
}
bool is_far(const PoolRule& rule) { return rule.in * (rule.out + 1) + rule.in >= int64_t(1) << 31; }

void launch_pool(Launch& launch, Pool pool, PoolArguments& a, const PoolRules& rules, Recorder& recorder) {
  const uint64_t rows = longest(rules.rows), columns = longest(rules.columns), elements = rows * columns;
  // One invocation computes a window of few elements. Several invocations share a larger window and read
  // adjacent elements.
  constexpr uint64_t kFew = 32, kEach = 8;
  if (pool.mode != Pool::kMaxPutCells && elements > kFew) {
    pool.lanes = uint32_t(std::min<uint64_t>(kGroupSize, std::bit_floor(elements / kEach)));
    pool.lanes_across = uint32_t(std::min<uint64_t>(pool.lanes, std::bit_ceil(columns)));
  }
  a.divisor = int32_t(rules.divisor);
  a.axes[0] = axis_of(rules.rows);
  a.axes[1] = axis_of(rules.columns);
  pool.adaptive = rules.columns.adaptive;
  pool.far = pool.adaptive && (is_far(rules.rows) || is_far(rules.columns));
  const bool windows = pool.mode != Pool::kMaxPut && pool.mode != Pool::kAverageSpread;
  launch.run(pool, {groups_for(uint64_t(a.count) * (windows ? pool.lanes : 1), recorder)}, bytes_of(a));
}

template <uint32_t mode>
void run_pool(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const PoolRules rules = pool_rules(call);
  const PoolRule &down = rules.rows, &across = rules.columns;
  const Tensor first = contiguous(call.input(0)),
               second = call.in.size() > 1 ? contiguous(call.input(1)) : Tensor();
  const Tensor& out = call.output();
  if (first.numel() == 0) return copy(out, Tensor::number(0.0), recorder);  // no window has a gradient
  if (mode == Pool::kAverage && rules.divisor == 0 && is_whole(down) && is_whole(across))
    return copy(out, reshape(mean(reshape(first, {out.numel(), down.in * across.in}), {1}), out.shape()),
                recorder);
  Pool pool{.mode = mode, .type = uint32_t(first.dtype())};
  constexpr uint64_t kSmall = 64;
  if (mode == Pool::kMaxPut && lie_apart(down) && lie_apart(across) &&
      uint64_t(down.stride) * uint64_t(across.stride) <= kSmall)
    pool.mode = Pool::kMaxPutCells;
  const auto windows = uint32_t(mode == Pool::kMaxPut ? first.numel() : out.numel());
  std::optional<Scratch> places;
  PoolArguments a{};
  if (pool.mode == Pool::kMaxPut) {
    places.emplace(recorder, windows * sizeof(int32_t));
    Launch launch(recorder);
    a.image = launch.reads(second);
    a.places = launch.writes(*places);
    a.count = windows;
    Pool find = pool;
    find.mode = Pool::kFind;
    launch_pool(launch, find, a, rules, recorder);
  }
  Launch launch(recorder);
  a = {};
  a.result = launch.writes(out);
  const uint64_t address = launch.reads(first);
  (mode == Pool::kMax || mode == Pool::kAverage ? a.image : a.values) = address;
  if (places)
    a.places = launch.reads(*places);
  else if (second.defined())
    a.image = launch.reads(second);
  a.count = pool.mode == Pool::kMaxPutCells ? windows : uint32_t(out.numel());
  launch_pool(launch, pool, a, rules, recorder);
}

}  // namespace

std::vector<KernelEntry> pool_kernels() {
  std::vector<KernelEntry> entries;
  for (const char* const name : {"max_pool1d", "max_pool2d", "adaptive_max_pool2d"}) {
    const std::string hidden = std::string("_") + name;
    entries.push_back({find_op(name), {supports_pool, run_pool<Pool::kMax>}});
    entries.push_back({find_op(hidden + "_grad"), {supports_pool, run_pool<Pool::kMaxPut>}});
    entries.push_back({find_op(hidden + "_pick"), {supports_pool, run_pool<Pool::kMaxPick>}});
  }
  for (const char* const name : {"avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d"}) {
    entries.push_back({find_op(name), {supports_pool, run_pool<Pool::kAverage>}});
    entries.push_back(
        {find_op(std::string("_") + name + "_grad"), {supports_pool, run_pool<Pool::kAverageSpread>}});
  }
  return entries;
}

}  // namespace lunagrad::gpu
