// Max and average pooling, their gradients and adaptive forms, f32 (shaders/pool.comp).
#include <algorithm>
#include <cstring>

#include "gpu/kernels.h"
#include "runtime/ops.h"
#include "runtime/ops/pool_geometry.h"

namespace lunagrad::gpu {
namespace {

enum class Mode : uint32_t { max, max_put, max_pick, average, average_spread, max_put_cells };

struct Arguments {
  uint64_t result, values, image;
  uint32_t count;
  int32_t size[2], out_size[2], dilation[2];
  int32_t divisor;
  uint32_t windows[2], holders[2];
};
struct Window {
  int32_t start, count, divisor;
};
struct Windows {
  int32_t first, last;
};

// What is more than this does not fit beside other arguments.
constexpr int64_t kMostAlong = 16384;

bool supports(const Call& call) {
  for (const Tensor& x : call.in)
    if (x.dtype() != DType::f32) return false;
  if (call.output().numel() >= int64_t(1) << 31 || call.input(0).numel() >= int64_t(1) << 31) return false;
  const PoolGeometry g = pool_geometry(call);
  return std::max({g.rows.size, g.columns.size, g.rows.out(), g.columns.out()}) <= kMostAlong;
}

std::vector<Window> list_windows(const PoolAxis& axis) {
  std::vector<Window> list;
  for (const PoolWindow& w : axis.windows)
    list.push_back({int32_t(w.start), int32_t(w.count), int32_t(w.divisor)});
  return list;
}
// Windows that hold an element lie one after the other, but for those of padding alone.
std::vector<Windows> list_holders(const PoolAxis& axis) {
  std::vector<Windows> list(size_t(axis.size), {0, -1});
  for (int32_t w = 0; w < int32_t(axis.out()); ++w) {
    const PoolWindow& window = axis.windows[size_t(w)];
    for (int64_t k = 0; k < window.count; ++k) {
      Windows& holders = list[size_t(window.start + k * axis.dilation)];
      if (holders.last < 0) holders.first = w;
      holders.last = w;
    }
  }
  return list;
}

// Whether no element is in two windows: then a plane falls into cells, each with one window in it.
bool lie_apart(const PoolAxis& axis) {
  if (axis.dilation != 1) return false;
  int64_t end = 0;
  for (const PoolWindow& w : axis.windows) {
    if (w.count == 0 || w.start < end) return false;
    end = w.start + w.count;
  }
  return true;
}

template <class T>
uint32_t append(std::vector<std::byte>& to, const std::vector<T>& items) {
  const size_t at = to.size();
  to.resize(at + items.size() * sizeof(T));
  std::memcpy(to.data() + at, items.data(), items.size() * sizeof(T));
  return uint32_t(at);
}

template <Mode mode>
void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const PoolGeometry g = pool_geometry(call);
  const Tensor first = contiguous(call.input(0)),
               second = call.in.size() > 1 ? contiguous(call.input(1)) : Tensor();
  const Tensor& out = call.output();
  Launch launch(recorder);
  Arguments a{};
  a.result = launch.writes(out);
  const uint64_t address = launch.reads(first);
  (mode == Mode::max || mode == Mode::average ? a.image : a.values) = address;
  if (second.defined()) a.image = launch.reads(second);
  const bool in_cells = mode == Mode::max_put && lie_apart(g.rows) && lie_apart(g.columns);
  a.count = uint32_t(in_cells ? first.numel() : out.numel());
  a.divisor = int32_t(g.divisor);
  std::vector<std::byte> bytes(sizeof a);
  for (int axis = 0; axis < 2; ++axis) {
    const PoolAxis& along = axis == 0 ? g.rows : g.columns;
    a.size[axis] = int32_t(along.size);
    a.out_size[axis] = int32_t(along.out());
    a.dilation[axis] = int32_t(along.dilation);
    a.windows[axis] = append(bytes, list_windows(along));
    a.holders[axis] = append(bytes, list_holders(along));
  }
  std::memcpy(bytes.data(), &a, sizeof a);
  static const ShaderCode& code = find_shader("pool");
  launch.run(code, {uint32_t(in_cells ? Mode::max_put_cells : mode)},
             {group_count((uint64_t(a.count) + 255) / 256, recorder)}, bytes);
}

}  // namespace

std::vector<KernelEntry> pool_kernels() {
  std::vector<KernelEntry> entries;
  for (const char* const name : {"max_pool1d", "max_pool2d", "adaptive_max_pool2d"}) {
    const std::string hidden = std::string("_") + name;
    entries.push_back({find_op(name), {supports, run<Mode::max>}});
    entries.push_back({find_op(hidden + "_grad"), {supports, run<Mode::max_put>}});
    entries.push_back({find_op(hidden + "_pick"), {supports, run<Mode::max_pick>}});
  }
  for (const char* const name : {"avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d"}) {
    entries.push_back({find_op(name), {supports, run<Mode::average>}});
    entries.push_back({find_op(std::string("_") + name + "_grad"), {supports, run<Mode::average_spread>}});
  }
  return entries;
}

}  // namespace lunagrad::gpu
