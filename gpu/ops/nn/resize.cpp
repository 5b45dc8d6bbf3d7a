// interpolate and its gradient, of f32, f16 and bf16 (gpu/ops/nn/resize.comp).
#include <algorithm>
#include <cstring>

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"
#include "runtime/ops/nn/resize_geometry.h"

namespace lunagrad::gpu {
namespace {

using shaders::Resize;

bool supports_interpolate(const Call& call) {
  const DType type = call.input(0).dtype();
  return (type == DType::f32 || is_16bit_float(type)) && indexable(call.input(0)) && indexable(call.output());
}

// Layout as in resize.comp.
struct Tap {
  int32_t low, high;
  float weight;
};
struct Holders {
  int32_t first = 0, last = -1;
};
struct ResizeAxis {
  int32_t size, out_size;
  uint32_t taps, holders;
  Divisor by;
};
struct ResizeArguments {
  uint64_t result, operand, lists;
  uint32_t behind, count;
  ResizeAxis axes[3];
};

bool blends(const ResizeGeometry& g) {
  for (const auto& axis : g.axes)
    for (const ResizeTap& tap : axis)
      if (tap.weight != 0) return true;
  return false;
}

// For each element of the axis the results that read it, which are adjacent.
std::vector<Holders> holders_of(const std::vector<ResizeTap>& axis, int64_t size) {
  std::vector<Holders> list(static_cast<size_t>(size));
  const auto add = [&](int64_t element, int32_t result) {
    Holders& holders = list[size_t(element)];
    if (holders.last < 0) holders.first = result;
    holders.last = result;
  };
  for (size_t i = 0; i < axis.size(); ++i) {
    add(axis[i].low, int32_t(i));
    if (axis[i].weight != 0) add(axis[i].high, int32_t(i));
  }
  return list;
}

template <class T>
uint32_t append(std::vector<std::byte>& to, const std::vector<T>& items) {
  const size_t at = to.size();
  to.resize(at + items.size() * sizeof(T));
  std::memcpy(to.data() + at, items.data(), items.size() * sizeof(T));
  return uint32_t(at);
}

void launch_resize(uint32_t mode, const Tensor& out, const Tensor& from, const ResizeGeometry& g,
                   Recorder& recorder) {
  ResizeArguments a{};
  std::vector<std::byte> lists;
  const bool spreads = mode == Resize::kSpread;
  const bool fours = !spreads && g.axes[2].size() % 4 == 0 &&
                     moves_in_fours(out.dtype(), uint64_t(out.offset()) * uint64_t(item_size(out.dtype())));
  for (size_t d = 0; d < 3; ++d) {
    ResizeAxis& axis = a.axes[d];
    axis.size = int32_t(g.in[d]);
    axis.out_size = int32_t(g.axes[d].size());
    const uint32_t units =
        spreads ? uint32_t(axis.size) : uint32_t(axis.out_size) / (fours && d == 2 ? 4 : 1);
    axis.by = Divisor(units);
    std::vector<Tap> taps;
    for (const ResizeTap& tap : g.axes[d])
      taps.push_back({int32_t(tap.low), int32_t(tap.high), float(tap.weight)});
    axis.taps = append(lists, taps);
    if (spreads) axis.holders = append(lists, holders_of(g.axes[d], g.in[d]));
  }
  // Long lists do not fit the arguments' ring buffer.
  constexpr size_t kMostBehind = 1 << 16;
  Tensor uploaded;
  if (lists.size() > kMostBehind) {
    const int64_t words = int64_t(lists.size() / sizeof(int32_t));
    std::vector<int32_t> whole(static_cast<size_t>(words));
    std::memcpy(whole.data(), lists.data(), lists.size());
    uploaded = to(Tensor::from<int32_t>(whole, {words}), out.device());
  }
  Launch launch(recorder);
  a.result = launch.writes(out);
  a.operand = launch.reads(from);
  a.behind = sizeof a;
  if (uploaded.defined()) a.lists = launch.reads(uploaded);
  a.count = uint32_t(out.numel() / (fours ? 4 : 1));
  std::vector<std::byte> bytes(sizeof a);
  std::memcpy(bytes.data(), &a, sizeof a);
  if (!uploaded.defined()) bytes.insert(bytes.end(), lists.begin(), lists.end());
  launch.run(Resize{.mode = mode,
                    .result_type = uint32_t(out.dtype()),
                    .type = uint32_t(from.dtype()),
                    .blends = blends(g),
                    .fours = fours},
             {groups_for(a.count, recorder)}, bytes);
}

void run_interpolate(const Call& call, Recorder& recorder) {
  const NoGrad off;
  launch_resize(Resize::kResize, call.output(), contiguous(call.input(0)), resize_geometry(call), recorder);
}

// The geometry of one axis alone: the other axes keep their sizes. Axes before it have the result's size,
// axes after it the image's.
ResizeGeometry along(const ResizeGeometry& g, size_t axis) {
  ResizeGeometry one = g;
  for (size_t d = 0; d < 3; ++d) {
    if (d == axis) continue;
    one.in[d] = d < axis ? int64_t(g.axes[d].size()) : g.in[d];
    one.axes[d].clear();
    for (int64_t i = 0; i < one.in[d]; ++i) one.axes[d].push_back({i, i, 0});
  }
  return one;
}

void run_interpolate_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const ResizeGeometry g = resize_geometry(call);
  Tensor grad = contiguous(call.input(0));
  // An invocation adds up all results of an element. If they are many, the axes are processed one after the
  // other.
  constexpr int64_t kMost = 16;
  int64_t most = 1;
  for (size_t d = 0; d < 3; ++d) {
    int64_t longest = 1;
    for (const Holders& h : holders_of(g.axes[d], g.in[d]))
      longest = std::max(longest, int64_t(h.last) - h.first + 1);
    most *= longest;
  }
  if (most <= kMost) return launch_resize(Resize::kSpread, call.output(), grad, g, recorder);
  for (size_t d = 2; d > 0; --d) {
    const ResizeGeometry one = along(g, d);
    const Tensor sums = Tensor::empty({g.planes, one.in[0], one.in[1], one.in[2]}, DType::f32, grad.device());
    launch_resize(Resize::kSpread, sums, grad, one, recorder);
    grad = sums;
  }
  launch_resize(Resize::kSpread, call.output(), grad, along(g, 0), recorder);
}

}  // namespace

std::vector<KernelEntry> resize_kernels() {
  return {{find_op("interpolate"), {supports_interpolate, run_interpolate}},
          {find_op("_interpolate_grad"), {supports_interpolate, run_interpolate_grad}}};
}

}  // namespace lunagrad::gpu
