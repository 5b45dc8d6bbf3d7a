#include "gpu/ops/index/long_lanes.h"

#include <algorithm>

#include "gpu/ops/divisor.h"

namespace lunagrad::gpu {
namespace {

using shaders::LongLanes;

static_assert(kLongestLane % LongLanes::kAhead == 0);
static_assert(LongLanes::kPut == uint32_t(LaneMode::put));

// Layout as in long_lanes.comp.
struct LongLaneArguments {
  uint64_t target, source, index, fault;
  uint32_t lanes, dims, first, last, kind, padding;
  int64_t size;
  int64_t target_step, source_step, index_step;
  Divisor by[8];
  uint32_t lane_size[8];
  int64_t target_stride[8], source_stride[8], index_stride[8];
};

}  // namespace

bool has_long_lanes(const Tensor& index, int dim) {
  constexpr int64_t kMany = 1 << 11;
  const int64_t length = size_along(index, dim);
  return length > LongLanes::kAhead && index.numel() / length >= kMany;
}

void run_long_lanes(LaneMode mode, const Lanes& lanes, const LaneView& target, const LaneView& source,
                    const LaneView& index, FaultKind kind, Recorder& recorder) {
  LongLaneArguments a{};
  Shape across = lanes.shape;
  const uint32_t extent = uint32_t(across[lanes.dim]);
  across.erase(lanes.dim);
  a.lanes = uint32_t(numel(across));
  a.dims = uint32_t(across.size());
  a.kind = uint32_t(kind);
  a.size = lanes.size;
  a.target_step = target.step;
  a.source_step = source.step;
  a.index_step = index.step;
  for (int d = 0; d < across.size(); ++d) {
    a.by[d] = Divisor(uint32_t(across[d]));
    a.lane_size[d] = uint32_t(across[d]);
    a.target_stride[d] = target.strides[d];
    a.source_stride[d] = source.strides[d];
    a.index_stride[d] = index.strides[d];
  }
  // Spread few lanes over many workgroups, so that all processors have some.
  const uint32_t width = a.lanes < (1 << 16) ? 32 : kGroupSize;
  const bool put = mode == LaneMode::put;
  const DType type = target.memory->dtype();
  for (a.first = 0; a.first < extent; a.first = a.last) {
    a.last = std::min(extent, a.first + kLongestLane);
    Launch launch(recorder);
    a.target = launch.writes(*target.memory);
    a.source = launch.reads(*source.memory);
    a.index = launch.reads(*index.memory);
    a.fault = recorder.stream.fault_address();
    launch.run(LongLanes{.mode = uint32_t(mode),
                         .type = put ? raw_type(type) : uint32_t(type),
                         .index_type = uint32_t(index.memory->dtype()),
                         .width = width},
               {group_count((uint64_t(a.lanes) + width - 1) / width, recorder)}, bytes_of(a));
  }
}

RunLanes lanes_for(const Tensor& index, int dim, const IndexedRows& rows) {
  if (selects_rows(rows)) return nullptr;
  return has_long_lanes(index, dim) ? run_long_lanes : lanes_suffice(index, dim) ? run_lanes : nullptr;
}

}  // namespace lunagrad::gpu
