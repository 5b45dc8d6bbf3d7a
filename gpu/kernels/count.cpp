// The positions of values in sorted rows, for searchsorted, bucketize and isin.
#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Hot {
  uint64_t result, sequence, values;
  uint32_t count, each, n, step;
};
static_assert(sizeof(Hot) <= kHotBytes);

bool supports(const Call& call) {
  const Tensor &rows = call.input(0), &values = call.input(1);
  return rows.dtype() != DType::f64 && indexable(rows) && indexable(values);
}

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rows = contiguous(call.input(0)), values = contiguous(call.input(1));
  const bool shared = rows.ndim() == 1;
  Launch launch(recorder);
  Hot hot{};
  hot.result = launch.writes(call.output());
  hot.sequence = launch.reads(rows);
  hot.values = launch.reads(values);
  hot.count = uint32_t(values.numel());
  hot.each = shared ? hot.count : uint32_t(values.size(-1));
  hot.n = uint32_t(rows.size(-1));
  hot.step = shared ? 0 : hot.n;
  launch.run(shaders::Search{.type = uint32_t(rows.dtype()), .right = call.flag(0)},
             {groups_for(hot.count, recorder)}, {}, bytes_of(hot));
}

}  // namespace

std::vector<KernelEntry> count_kernels() { return {{find_op("_searchsorted"), {supports, run}}}; }

}  // namespace lunagrad::gpu
