// For each bag of ids the sum or mean of the table's rows with these ids, f32.
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::EmbeddingBag;
enum { kIds, kTable, kStarts, kScale };  // operands of runtime/ops/nn/embedding_bag.cpp

struct Arguments {
  uint64_t ids, table, starts, scale, result, fault;
  uint32_t bags, ids_count, rows, width, kind;
};
static_assert(offsetof(Arguments, bags) == 48);

bool supports(const Call& call) {
  return call.output().dtype() == DType::f32 && call.input(kStarts).dtype() == DType::i64 &&
         indexable(call.output()) && indexable(call.input(kIds)) && indexable(call.input(kTable));
}

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor ids = contiguous(call.input(kIds)), table = contiguous(call.input(kTable)),
               starts = contiguous(call.input(kStarts)),
               scale = call.has(kScale) ? contiguous(call.input(kScale)) : Tensor();
  Launch launch(recorder);
  Arguments a{};
  a.ids = launch.reads(ids);
  a.table = launch.reads(table);
  a.starts = launch.reads(starts);
  if (scale.defined()) a.scale = launch.reads(scale);
  a.result = launch.writes(call.output());
  a.fault = recorder.stream.fault_address();
  a.bags = uint32_t(starts.numel());
  a.ids_count = uint32_t(ids.numel());
  a.rows = uint32_t(table.size(0));
  a.width = uint32_t(table.size(1));
  a.kind = uint32_t(FaultKind::embedding);
  launch.run(EmbeddingBag{.id_type = uint32_t(ids.dtype()),
                          .scaled = scale.defined(),
                          .in_fours = a.width % 4 == 0 && moves_in_fours(DType::f32, a.table),
                          .mean = call.flag(0)},
             {groups_for(uint64_t(a.bags) * ((a.width + 3) / 4), recorder)}, bytes_of(a));
}

}  // namespace

std::vector<KernelEntry> embedding_bag_kernels() {
  return {{find_op("_embedding_bag_sum"), {supports, run}}};
}

}  // namespace lunagrad::gpu
