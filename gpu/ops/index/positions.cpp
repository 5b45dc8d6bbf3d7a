// Positions computed from index tensors (runtime/ops/index/positions.cpp), without a wait for the device.
#include <algorithm>

#include "gpu/ops/divisor.h"
#include "gpu/ops/index/sorted_indices.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Layout as in flat_positions.comp.
struct FlatArguments {
  uint64_t result, fault;
  uint32_t count, dims, kind, padding;
  Divisor by[8];
  uint32_t extent[8];
  uint64_t index[8];
  int64_t stride[8][8];
  int64_t size[8];
  uint32_t type[8];
};
static_assert(offsetof(FlatArguments, index) == 128);

struct RepeatedPushConstants {
  uint64_t result, keys, counts, ends, fault;
  uint32_t total, positions, dim, length_kind, sum_kind;
};
static_assert(sizeof(RepeatedPushConstants) <= kPushConstantBytes);

bool supports_flat_positions(const Call& call) {
  const Dims& sizes = call.list(0);
  const bool has_small_dims =  // the text of a fault counts them in 32 bits
      std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size <= UINT32_MAX; });
  return has_small_dims && indexable(call.output());
}

void run_flat_positions(const Call& call, Recorder& recorder) {
  Shape shape;
  for (const Tensor& index : call.in) shape = broadcast_shapes(call.op->name, shape, index.shape());
  Launch launch(recorder);
  FlatArguments a{};
  a.result = launch.writes(call.output());
  a.fault = recorder.stream.fault_address();
  a.count = uint32_t(call.output().numel());
  a.dims = uint32_t(shape.size());
  a.kind = uint32_t(call.flag(1) ? FaultKind::index_put : FaultKind::index);
  for (int d = 0; d < shape.size(); ++d) {
    a.by[d] = Divisor(uint32_t(shape[d]));
    a.extent[d] = uint32_t(shape[d]);
  }
  for (size_t k = 0; k < call.in.size(); ++k) {
    const Tensor& index = call.in[k];
    const Strides strides = broadcast_strides(index.shape(), index.strides(), shape);
    a.index[k] = launch.reads(index);
    a.type[k] = uint32_t(index.dtype());
    a.size[k] = call.list(0)[int(k)];
    for (int d = 0; d < strides.size(); ++d) a.stride[k][d] = strides[d];
  }
  launch.run(shaders::FlatPositions{.indices = uint32_t(call.in.size())}, {groups_for(a.count, recorder)},
             bytes_of(a));
}

bool supports_repeated_positions(const Call& call) {
  return indexable(call.output()) && indexable(call.input(0));
}

void run_repeated_positions(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor counts = contiguous(call.input(0)), ends = contiguous(cumsum(to(counts, DType::i64), 0));
  Launch launch(recorder);
  RepeatedPushConstants push{};
  push.result = launch.writes(call.output());
  // Segments are reduced by these positions at once, so their keys are written beside them.
  const bool is_segments = call.integer(1) >= 0 && call.output().numel() > 0 && counts.numel() > 0;
  std::shared_ptr<const SortedKeys> keys;
  if (is_segments) keys = std::make_shared<SortedKeys>(uint32_t(call.output().numel()), 0, recorder);
  if (keys) push.keys = launch.writes(keys->keys());
  push.counts = launch.reads(counts);
  push.ends = launch.reads(ends);
  push.fault = recorder.stream.fault_address();
  push.total = uint32_t(call.output().numel());
  push.positions = uint32_t(counts.numel());
  push.dim = uint32_t(call.integer(1));
  push.length_kind = uint32_t(FaultKind::length);
  push.sum_kind = uint32_t(FaultKind::lengths);
  launch.run(shaders::RepeatedPositions{.count_type = uint32_t(counts.dtype()), .has_keys = is_segments},
             {groups_for(std::max(push.total, push.positions), recorder)}, {}, bytes_of(push));
  note_ascending(call.output());
  if (keys) recorder.sorted_indices.keep_written(call.output(), push.positions, std::move(keys));
}

}  // namespace

std::vector<KernelEntry> position_kernels() {
  return {{find_op("_flat_positions"), {supports_flat_positions, run_flat_positions}},
          {find_op("_repeated_positions"), {supports_repeated_positions, run_repeated_positions}}};
}

}  // namespace lunagrad::gpu
