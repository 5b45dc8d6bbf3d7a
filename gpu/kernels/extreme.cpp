// argmax and argmin; max and min along a dim with their indices.
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

bool supports(const Call& call) { return call.input(0).dtype() != DType::f64 && indexable(call.input(0)); }

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
  using shaders::Extreme;
  const uint32_t along = threads_along(arguments.rows.extent);
  launch.run(Extreme{.mode = largest ? Extreme::kLargest : Extreme::kSmallest,
                     .along = along,
                     .type = uint32_t(x.dtype()),
                     .has_values = has_values,
                     .raw_type = raw_type(x.dtype())},
             {groups_for(uint64_t(arguments.rows.count) * along, recorder)}, bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> extreme_kernels() {
  return {{find_op("argmax"), {supports, run<true>}},
          {find_op("argmin"), {supports, run<false>}},
          {find_op("_max"), {supports, run<true>}},
          {find_op("_min"), {supports, run<false>}}};
}

}  // namespace lunagrad::gpu
