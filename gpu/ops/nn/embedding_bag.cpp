// For each bag of ids the sum, mean or largest of the table's rows with these ids, and the gradient of the
// largest.
#include "gpu/ops/divisor.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::EmbeddingBag;
enum { kBagIds, kBagTable, kBagStarts, kBagScale };  // operands of runtime/ops/nn/embedding_bag.cpp

struct EmbeddingBagArguments {
  uint64_t ids, table, starts, scale, result, places, fault;
  uint32_t bags, ids_count, rows, width, id_kind, start_kind;
  int64_t padding;
};
static_assert(offsetof(EmbeddingBagArguments, padding) == 80);

bool is_loaded(DType type) { return type == DType::f32 || is_16bit_float(type); }

// A table without rows has nothing to load where an id is wrong.
bool has_bags(const Call& call) {
  return call.input(kBagTable).numel() > 0 && call.input(kBagStarts).dtype() == DType::i64 &&
         indexable(call.output()) && indexable(call.input(kBagIds)) && indexable(call.input(kBagTable));
}

bool supports_bag_sum(const Call& call) { return call.output().dtype() == DType::f32 && has_bags(call); }
bool supports_bag_max(const Call& call) { return is_loaded(call.output().dtype()) && has_bags(call); }

void run_bags(const Call& call, uint32_t mode, const Tensor& factors, int64_t padding, Recorder& recorder) {
  const Tensor ids = contiguous(call.input(kBagIds)), table = contiguous(call.input(kBagTable)),
               starts = contiguous(call.input(kBagStarts)),
               scale = factors.defined() ? contiguous(factors) : Tensor();
  Launch launch(recorder);
  EmbeddingBagArguments a{};
  a.ids = launch.reads(ids);
  a.table = launch.reads(table);
  a.starts = launch.reads(starts);
  if (scale.defined()) a.scale = launch.reads(scale);
  a.result = launch.writes(call.output());
  if (mode == EmbeddingBag::kMax) a.places = launch.writes(call.output(1));
  a.padding = padding;
  a.fault = recorder.stream.fault_address();
  a.bags = uint32_t(starts.numel());
  a.ids_count = uint32_t(ids.numel());
  a.rows = uint32_t(table.size(0));
  a.width = uint32_t(table.size(1));
  a.id_kind = uint32_t(FaultKind::embedding);
  a.start_kind = uint32_t(FaultKind::offsets);
  launch.run(EmbeddingBag{.id_type = uint32_t(ids.dtype()),
                          .scaled = scale.defined(),
                          .in_fours = a.width % 4 == 0 && moves_in_fours(table.dtype(), a.table | a.result),
                          .mode = mode,
                          .type = uint32_t(table.dtype())},
             {groups_for(uint64_t(a.bags) * ((a.width + 3) / 4), recorder)}, bytes_of(a));
}

void run_bag_sum(const Call& call, Recorder& recorder) {
  const NoGrad off;
  run_bags(call, call.flag(0) ? EmbeddingBag::kMean : EmbeddingBag::kSum,
           call.has(kBagScale) ? call.input(kBagScale) : Tensor(), call.integer(1), recorder);
}
void run_bag_max(const Call& call, Recorder& recorder) {
  const NoGrad off;
  run_bags(call, EmbeddingBag::kMax, Tensor(), call.integer(0), recorder);
}

// --- _embedding_bag_max_grad ---

struct MaxGradPushConstants {
  uint64_t result, grad, places, starts;
  uint32_t count, bags, width, fours;
  Divisor by_fours;
};
static_assert(sizeof(MaxGradPushConstants) <= kPushConstantBytes);

bool supports_max_grad(const Call& call) {
  return is_loaded(call.output().dtype()) && call.input(2).numel() > 0 && call.output().size(1) > 0 &&
         indexable(call.output()) && indexable(call.input(0));
}
void run_max_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor grad = contiguous(call.input(0)), places = contiguous(call.input(1)),
               starts = contiguous(call.input(2)), &out = call.output();
  Launch launch(recorder);
  MaxGradPushConstants push{};
  push.result = launch.writes(out);
  push.grad = launch.reads(grad);
  push.places = launch.reads(places);
  push.starts = launch.reads(starts);
  push.bags = uint32_t(starts.numel());
  push.width = uint32_t(out.size(1));
  push.fours = (push.width + 3) / 4;
  push.by_fours = Divisor(push.fours);
  push.count = uint32_t(out.size(0)) * push.fours;
  const bool in_fours =
      push.width % 4 == 0 && push.places % 16 == 0 && moves_in_fours(out.dtype(), push.grad | push.result);
  launch.run(shaders::EmbeddingBagMaxGrad{.type = uint32_t(out.dtype()), .in_fours = in_fours},
             {groups_for(push.count, recorder)}, {}, bytes_of(push));
}

}  // namespace

std::vector<KernelEntry> embedding_bag_kernels() {
  return {{find_op("_embedding_bag_sum"), {supports_bag_sum, run_bag_sum}},
          {find_op("_embedding_bag_max"), {supports_bag_max, run_bag_max}},
          {find_op("_embedding_bag_max_grad"), {supports_max_grad, run_max_grad}}};
}

}  // namespace lunagrad::gpu
