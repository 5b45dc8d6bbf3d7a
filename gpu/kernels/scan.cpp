// cumsum along a dim: of f32, of the real and imaginary parts of c64, and of integers in i64.
#include "gpu/kernels/complex.h"
#include "gpu/kernels/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Arguments {
  uint64_t result, operand;
  Rows rows;
};

bool supports(const Call& call) {
  const DType type = call.input(0).dtype();
  return (type == DType::f32 || type == DType::c64 || is_integral(type)) && indexable(call.input(0));
}

void scan(const Call& call, const Tensor& out, const Tensor& x, Recorder& recorder) {
  const int dim = normalize_dim(call.op->name, call.integer(0), x.shape());
  Launch launch(recorder);
  Arguments arguments{};
  arguments.result = launch.writes(out);
  arguments.operand = launch.reads(x);
  const Tensor* tensors[] = {&out, &x};
  arguments.rows = rows_along(dim, tensors);
  const uint32_t along = threads_along(arguments.rows.extent);
  launch.run(
      shaders::Scan{
          .mode = uint32_t(x.dtype()), .along = along, .exclusive = call.flag(1), .reverse = call.flag(2)},
      {groups_for(uint64_t(arguments.rows.count) * along, recorder)}, bytes_of(arguments));
}

void run_cumsum(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  if (!is_complex(x.dtype())) return scan(call, out, x, recorder);
  for (const int part : {0, 1}) scan(call, part_view(out, part), part_view(x, part), recorder);
}

}  // namespace

std::vector<KernelEntry> scan_kernels() { return {{find_op("_cumsum"), {supports, run_cumsum, true}}}; }

}  // namespace lunagrad::gpu
