// Rotary position embedding, f32, as a composition of tensor ops.
#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports_rope(const Call& call) { return all_f32(call) && indexable(call.output()); }

void run_rope(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(0), &cos = call.input(1), &sin = call.input(2), &out = call.output();
  const int64_t n = cos.size(1), features = x.size(-1);
  // The first features of all pairs (which = 0), or the second ones (1).
  const auto half = [&](const Tensor& whole, int64_t which) {
    return call.flag(0) ? slice(whole, -1, which, 2 * n, 2) : narrow(whole, -1, which * n, n);
  };
  const Tensor a = half(x, 0), b = half(x, 1);
  copy(half(out, 0), a * cos - b * sin, recorder);
  copy(half(out, 1), b * cos + a * sin, recorder);
  if (2 * n < features)
    copy(narrow(out, -1, 2 * n, features - 2 * n), narrow(x, -1, 2 * n, features - 2 * n), recorder);
}

}  // namespace

std::vector<KernelEntry> rope_kernels() { return {{find_op("rope"), {supports_rope, run_rope}}}; }

}  // namespace lunagrad::gpu
