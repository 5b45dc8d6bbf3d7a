#include "gpu/ops/index/lanes.h"

#include <algorithm>

#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct LaneArguments {
  uint64_t target, source, index, fault;
  uint32_t lanes, dims, first, last, kind, wraps;
  int64_t size;
  int64_t target_step, source_step, index_step;
  uint32_t lane_size[8];
  int64_t target_stride[8], source_stride[8], index_stride[8];
};

}  // namespace

int dim_of(const Call& call) { return normalize_dim(call.op->name, call.integer(0), call.input(0).shape()); }
int64_t size_along(const Tensor& x, int dim) { return x.ndim() == 0 ? 1 : x.size(dim); }

bool lanes_suffice(const Tensor& index, int dim) {
  constexpr int64_t kShort = 32, kMany = 1 << 16;
  const int64_t length = size_along(index, dim);
  return length <= kShort || index.numel() / length >= kMany;
}

LaneView view_of(const Tensor& x, int dim) {
  if (x.ndim() == 0) return {&x, {}, 0};
  Strides strides = x.strides();
  const int64_t step = strides[dim];
  strides.erase(dim);
  return {&x, strides, step};
}
LaneView same_for_all(const Tensor& x, int dims) { return {&x, Strides(std::max(dims - 1, 0), 0), 0}; }
LaneView flat_index(const Tensor& x, int dims) {
  return {&x, Strides(std::max(dims - 1, 0), 0), x.ndim() == 0 ? 0 : x.strides()[0]};
}

void run_lanes(LaneMode mode, const Lanes& lanes, const LaneView& target, const LaneView& source,
               const LaneView& index, FaultKind kind, Recorder& recorder) {
  LaneArguments a{};
  Shape across = lanes.shape;
  uint32_t extent = 1;
  if (!across.empty()) {
    extent = uint32_t(across[lanes.dim]);
    across.erase(lanes.dim);
  }
  a.lanes = uint32_t(numel(across));
  a.dims = uint32_t(across.size());
  if (a.lanes == 0) return;
  a.kind = uint32_t(kind);
  a.wraps = kind == FaultKind::index_fill;
  a.size = lanes.size;
  a.target_step = target.step;
  a.source_step = source.step;
  a.index_step = index.step;
  for (int d = 0; d < across.size(); ++d) {
    a.lane_size[d] = uint32_t(across[d]);
    a.target_stride[d] = target.strides[d];
    a.source_stride[d] = source.strides[d];
    a.index_stride[d] = index.strides[d];
  }
  const bool take = mode == LaneMode::take;
  const DType type = target.memory->dtype();
  for (a.first = 0; a.first < extent; a.first = a.last) {
    a.last = std::min(extent, a.first + kLongestLane);
    Launch launch(recorder);
    a.target = take ? launch.reads(*target.memory) : launch.writes(*target.memory);
    a.source = take ? launch.writes(*source.memory) : launch.reads(*source.memory);
    a.index = launch.reads(*index.memory);
    a.fault = recorder.stream.fault_address();
    launch.run(shaders::Lanes{.mode = uint32_t(mode),
                              .type = mode >= LaneMode::add ? uint32_t(type) : raw_type(type),
                              .index_type = uint32_t(index.memory->dtype())},
               {groups_for(a.lanes, recorder)}, bytes_of(a));
  }
}

}  // namespace lunagrad::gpu
