// cummax, cummin and logcumsumexp along a dim (shaders/running.comp).
#include "gpu/kernels/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Running;

struct Arguments {
  uint64_t result, operand, places;
  uint64_t padding;
  Rows rows;
};

void launch(const Call& call, uint32_t mode, bool reverse, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output(0);
  const bool has_places = mode != Running::kLogSum;
  Launch launch(recorder);
  Arguments arguments{};
  arguments.result = launch.writes(out);
  arguments.operand = launch.reads(x);
  if (has_places) arguments.places = launch.writes(call.output(1));
  const Tensor* tensors[] = {&out, &x, has_places ? &call.output(1) : &out};
  arguments.rows = rows_along(normalize_dim(call.op->name, call.integer(0), x.shape()), tensors);
  const uint32_t along = threads_along(arguments.rows.extent);
  launch.run(Running{.mode = mode,
                     .along = along,
                     .type = uint32_t(x.dtype()),
                     .raw_type = raw_type(x.dtype()),
                     .reverse = reverse},
             {groups_for(uint64_t(arguments.rows.count) * along, recorder)}, bytes_of(arguments));
}

bool supports_extreme(const Call& call) {
  return call.input(0).dtype() != DType::f64 && indexable(call.input(0));
}
template <uint32_t mode>
void run_extreme(const Call& call, Recorder& recorder) {
  launch(call, mode, false, recorder);
}

bool supports_log_sums(const Call& call) {
  return call.input(0).dtype() == DType::f32 && indexable(call.input(0));
}
void run_log_sums(const Call& call, Recorder& recorder) {
  launch(call, Running::kLogSum, call.flag(1), recorder);
}

}  // namespace

std::vector<KernelEntry> running_kernels() {
  return {{find_op("cummax"), {supports_extreme, run_extreme<Running::kLargest>}},
          {find_op("cummin"), {supports_extreme, run_extreme<Running::kSmallest>}},
          {find_op("_logcumsumexp"), {supports_log_sums, run_log_sums}}};
}

}  // namespace lunagrad::gpu
