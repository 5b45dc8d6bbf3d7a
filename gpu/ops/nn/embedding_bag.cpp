// For each bag of ids the sum or mean of the table's rows with these ids, f32.
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::EmbeddingBag;
enum { kBagIds, kBagTable, kBagStarts, kBagScale };  // operands of runtime/ops/nn/embedding_bag.cpp

struct EmbeddingBagArguments {
  uint64_t ids, table, starts, scale, result, fault;
  uint32_t bags, ids_count, rows, width, id_kind, start_kind;
};
static_assert(offsetof(EmbeddingBagArguments, bags) == 48);

bool supports_embedding_bag(const Call& call) {
  return call.output().dtype() == DType::f32 && call.input(kBagStarts).dtype() == DType::i64 &&
         indexable(call.output()) && indexable(call.input(kBagIds)) && indexable(call.input(kBagTable));
}

void run_embedding_bag(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor ids = contiguous(call.input(kBagIds)), table = contiguous(call.input(kBagTable)),
               starts = contiguous(call.input(kBagStarts)),
               scale = call.has(kBagScale) ? contiguous(call.input(kBagScale)) : Tensor();
  Launch launch(recorder);
  EmbeddingBagArguments a{};
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
  a.id_kind = uint32_t(FaultKind::embedding);
  a.start_kind = uint32_t(FaultKind::offsets);
  launch.run(EmbeddingBag{.id_type = uint32_t(ids.dtype()),
                          .scaled = scale.defined(),
                          .in_fours = a.width % 4 == 0 && moves_in_fours(DType::f32, a.table | a.result),
                          .mean = call.flag(0)},
             {groups_for(uint64_t(a.bags) * ((a.width + 3) / 4), recorder)}, bytes_of(a));
}

}  // namespace

std::vector<KernelEntry> embedding_bag_kernels() {
  return {{find_op("_embedding_bag_sum"), {supports_embedding_bag, run_embedding_bag}}};
}

}  // namespace lunagrad::gpu
