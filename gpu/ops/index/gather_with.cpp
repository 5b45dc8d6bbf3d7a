// Gathered elements compared or multiplied with others (runtime/ops/index/positions.cpp).
#include "gpu/ops/divisor.h"
#include "gpu/ops/index/indexed_rows.h"
#include "gpu/ops/index/lanes.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Layout as in gather_with.comp.
struct GatherWithArguments {
  uint64_t result, x, other, keys;
  uint32_t count, picked, inner, size;
  Divisor by_inner, by_picked;
};

bool supports_gather_with(const Call& call) {
  return call.output().dtype() == DType::f32 && indexable(call.input(0)) && indexable(call.output());
}

void run_gather_with(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0)), other = contiguous(call.input(2));
  const IndexedRows rows = rows_of(x.shape(), call.input(1), dim_of(call), FaultKind::gather);
  const Scratch keys(recorder, rows.count() * sizeof(uint32_t));
  write_keys(rows, keys, recorder);
  Launch launch(recorder);
  GatherWithArguments a{};
  a.result = launch.writes(call.output());
  a.x = launch.reads(x);
  a.other = launch.reads(other);
  a.keys = launch.reads(keys);
  const bool fours = rows.inner % 4 == 0 && (a.result | a.x | a.other) % 16 == 0;
  const uint64_t vector_size = fours ? 4 : 1;
  a.count = uint32_t(uint64_t(call.output().numel()) / vector_size);
  a.picked = uint32_t(rows.count());
  a.inner = uint32_t(rows.inner / vector_size);
  a.size = uint32_t(rows.size);
  a.by_inner = Divisor(a.inner);
  a.by_picked = Divisor(a.picked);
  launch.run(shaders::GatherWith{.compares = call.integer(1) == 0, .fours = fours},
             {groups_for(a.count, recorder)}, bytes_of(a));
}

}  // namespace

std::vector<KernelEntry> gather_with_kernels() {
  return {{find_op("_gather_with"), {supports_gather_with, run_gather_with}}};
}

}  // namespace lunagrad::gpu
