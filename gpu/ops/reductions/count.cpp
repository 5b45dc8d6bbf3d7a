// The positions of values in sorted rows, for searchsorted, bucketize and isin.
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct PushConstants {
  uint64_t result, sequence, values;
  uint32_t count, each, n, step;
};
static_assert(sizeof(PushConstants) <= kPushConstantBytes);

bool supports(const Call& call) {
  const Tensor &rows = call.input(0), &values = call.input(1);
  return rows.dtype() != DType::f64 && indexable(rows) && indexable(values);
}

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rows = contiguous(call.input(0)), values = contiguous(call.input(1));
  const bool shared = rows.ndim() == 1;
  Launch launch(recorder);
  PushConstants push{};
  push.result = launch.writes(call.output());
  push.sequence = launch.reads(rows);
  push.values = launch.reads(values);
  push.count = uint32_t(values.numel());
  push.each = shared ? push.count : uint32_t(values.size(-1));
  push.n = uint32_t(rows.size(-1));
  push.step = shared ? 0 : push.n;
  launch.run(shaders::Search{.type = uint32_t(rows.dtype()), .right = call.flag(0)},
             {groups_for(push.count, recorder)}, {}, bytes_of(push));
}

}  // namespace

std::vector<KernelEntry> count_kernels() { return {{find_op("_searchsorted"), {supports, run}}}; }

}  // namespace lunagrad::gpu
