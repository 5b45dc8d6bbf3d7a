// The positions of values in sorted rows, for searchsorted, bucketize and isin.
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct SearchsortedPushConstants {
  uint64_t result, sequence, values;
  uint32_t count, each, n, step;
};
static_assert(sizeof(SearchsortedPushConstants) <= kPushConstantBytes);

bool supports_searchsorted(const Call& call) {
  const Tensor &rows = call.input(0), &values = call.input(1);
  return rows.dtype() != DType::f64 && indexable(rows) && indexable(values);
}

void run_searchsorted(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rows = contiguous(call.input(0)), values = contiguous(call.input(1));
  const bool shared = rows.ndim() == 1;
  Launch launch(recorder);
  SearchsortedPushConstants push{};
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

std::vector<KernelEntry> count_kernels() {
  return {{find_op("_searchsorted"), {supports_searchsorted, run_searchsorted}}};
}

}  // namespace lunagrad::gpu
