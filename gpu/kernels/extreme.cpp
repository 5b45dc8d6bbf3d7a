// argmax and argmin, and max and min along a dim with their places.
#include "gpu/kernels.h"
#include "gpu/kernels/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Arguments {
  uint64_t operand;
  uint64_t places, values;
  Rows rows;
};

bool supports(const Call& call) {
  return call.input(0).dtype() != DType::f64 && call.input(0).numel() < int64_t(1) << 31;
}

template <bool largest>
void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Tensor x = call.input(0);
  int dim = 0;
  if (!call.params[0].present())
    x = reshape(x, {x.numel()});
  else
    dim = normalize_dim(call.op->name, call.integer(0), x.shape());
  Launch launch(recorder);
  Arguments arguments{};
  arguments.operand = launch.reads(x);
  const bool has_values = call.out.size() == 2;
  if (has_values) arguments.values = launch.writes(call.output(0));
  arguments.places = launch.writes(call.output(has_values ? 1 : 0));
  const Tensor* tensors[] = {&x};
  arguments.rows = rows_along(dim, tensors);
  const uint32_t along = threads_along(arguments.rows.extent), per_group = 256 / along;
  static const ShaderCode& code = find_shader("extreme");
  launch.run(
      code, {uint32_t(!largest), along, uint32_t(x.dtype()), uint32_t(has_values), raw_type(x.dtype())},
      {group_count((arguments.rows.count + per_group - 1) / per_group, recorder)}, bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> extreme_kernels() {
  return {{find_op("argmax"), {supports, run<true>}},
          {find_op("argmin"), {supports, run<false>}},
          {find_op("_max"), {supports, run<true>}},
          {find_op("_min"), {supports, run<false>}}};
}

}  // namespace lunagrad::gpu
