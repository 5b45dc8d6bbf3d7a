// Running sums along a dim, f32 and i64.
#include "gpu/kernels.h"
#include "gpu/kernels/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Arguments {
  uint64_t result, operand;
  Rows rows;
};

bool supports(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  return x.dtype() == out.dtype() && (x.dtype() == DType::f32 || x.dtype() == DType::i64) &&
         x.numel() < int64_t(1) << 31;
}

void run_cumsum(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  const int dim = normalize_dim(call.op->name, call.integer(0), x.shape());
  Launch launch(recorder);
  Arguments arguments{};
  arguments.result = launch.writes(out);
  arguments.operand = launch.reads(x);
  const Tensor* tensors[] = {&out, &x};
  arguments.rows = rows_along(dim, tensors);
  const uint32_t along = threads_along(arguments.rows.extent), per_group = 256 / along;
  static const ShaderCode& code = find_shader("scan");
  launch.run(code, {uint32_t(x.dtype() == DType::i64), along, uint32_t(call.flag(1)), uint32_t(call.flag(2))},
             {group_count((uint64_t(arguments.rows.count) + per_group - 1) / per_group, recorder)}, bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> scan_kernels() { return {{find_op("_cumsum"), {supports, run_cumsum}}}; }

}  // namespace lunagrad::gpu
