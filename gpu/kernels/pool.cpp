// Max and average pooling, adaptive pooling, and their gradients, of f32, f16 and bf16 (shaders/pool.comp).
#include <algorithm>
#include <cstring>

#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "runtime/ops.h"
#include "runtime/ops/pool_geometry.h"

namespace lunagrad::gpu {
namespace {

using shaders::Pool;

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

// Elements along an axis: the lists of a longer one would not fit the ring of arguments.
constexpr int64_t kMostAlong = 16384;

bool supports(const Call& call) {
  const DType type = call.input(0).dtype();
  if (type != DType::f32 && !is_half(type)) return false;
  for (const Tensor& x : call.in)
    if (x.dtype() != type) return false;
  if (!indexable(call.output()) || !indexable(call.input(0))) return false;
  const PoolGeometry g = pool_geometry(call);
  return std::max({g.rows.size, g.columns.size, g.rows.out(), g.columns.out()}) <= kMostAlong;
}

std::vector<Window> list_windows(const PoolAxis& axis) {
  std::vector<Window> list;
  for (const PoolWindow& w : axis.windows)
    list.push_back({int32_t(w.start), int32_t(w.count), int32_t(w.divisor)});
  return list;
}
// For each element of the axis the first and the last window that contain it. All windows between those two
// contain it too, unless they lie in the padding.
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

// Whether windows do not overlap. A plane then divides into cells of one window each.
bool lie_apart(const PoolAxis& axis) {
  if (axis.dilation != 1) return false;
  int64_t end = 0;
  for (const PoolWindow& w : axis.windows) {
    if (w.count == 0 || w.start < end) return false;
    end = w.start + w.count;
  }
  return true;
}

// Whether one window of the axis has all its elements, and its average is theirs.
bool is_whole(const PoolAxis& axis) {
  if (axis.out() != 1) return false;
  const PoolWindow& window = axis.windows[0];
  return window.start == 0 && window.count == axis.size && window.divisor == axis.size;
}

template <class T>
uint32_t append(std::vector<std::byte>& to, const std::vector<T>& items) {
  const size_t at = to.size();
  to.resize(at + items.size() * sizeof(T));
  std::memcpy(to.data() + at, items.data(), items.size() * sizeof(T));
  return uint32_t(at);
}

template <uint32_t mode>
void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const PoolGeometry g = pool_geometry(call);
  const Tensor first = contiguous(call.input(0)),
               second = call.in.size() > 1 ? contiguous(call.input(1)) : Tensor();
  const Tensor& out = call.output();
  // A thread for each window would be few threads, and neighbours would read far apart.
  if (mode == Pool::kAverage && g.divisor == 0 && is_whole(g.rows) && is_whole(g.columns))
    return copy(out,
                reshape(mean(reshape(first, {out.numel(), g.rows.size * g.columns.size}), {1}), out.shape()),
                recorder);
  Launch launch(recorder);
  Arguments a{};
  a.result = launch.writes(out);
  const uint64_t address = launch.reads(first);
  (mode == Pool::kMax || mode == Pool::kAverage ? a.image : a.values) = address;
  if (second.defined()) a.image = launch.reads(second);
  const bool in_cells = mode == Pool::kMaxPut && lie_apart(g.rows) && lie_apart(g.columns);
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
  launch.run(Pool{.mode = in_cells ? Pool::kMaxPutCells : mode, .type = uint32_t(first.dtype())},
             {groups_for(a.count, recorder)}, bytes);
}

}  // namespace

std::vector<KernelEntry> pool_kernels() {
  std::vector<KernelEntry> entries;
  for (const char* const name : {"max_pool1d", "max_pool2d", "adaptive_max_pool2d"}) {
    const std::string hidden = std::string("_") + name;
    entries.push_back({find_op(name), {supports, run<Pool::kMax>}});
    entries.push_back({find_op(hidden + "_grad"), {supports, run<Pool::kMaxPut>}});
    entries.push_back({find_op(hidden + "_pick"), {supports, run<Pool::kMaxPick>}});
  }
  for (const char* const name : {"avg_pool1d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d"}) {
    entries.push_back({find_op(name), {supports, run<Pool::kAverage>}});
    entries.push_back({find_op(std::string("_") + name + "_grad"), {supports, run<Pool::kAverageSpread>}});
  }
  return entries;
}

}  // namespace lunagrad::gpu
