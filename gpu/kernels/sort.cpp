// sort and topk along a dim, f32, of rows that fit into a work group's shared memory.
#include <algorithm>
#include <bit>

#include "gpu/kernels.h"
#include "gpu/kernels/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Arguments {
  uint64_t values, places, operand, kept;
  Rows rows;
};

constexpr int64_t kLongest = 2048;

// The dim's parameter: the first of sort, the second of topk.
template <int dim_at>
int64_t length_of(const Call& call) {
  const Tensor& x = call.input(0);
  return x.ndim() == 0 ? 1 : x.size(normalize_dim(call.op->name, call.integer(dim_at), x.shape()));
}
template <int dim_at>
bool supports(const Call& call) {
  return call.input(0).dtype() == DType::f32 && call.input(0).numel() < int64_t(1) << 31 &&
         length_of<dim_at>(call) <= kLongest;
}

template <int dim_at>
void order(const Call& call, bool descending, int64_t kept, Recorder& recorder) {
  const Tensor &x = call.input(0), &values = call.output(0), &places = call.output(1);
  const int dim = normalize_dim(call.op->name, call.integer(dim_at), x.shape());
  const int64_t length = length_of<dim_at>(call);
  // The results as rows of the operand's length, of which only the kept part is written.
  const auto as_long = [&](const Tensor& y) {
    return Tensor(y.storage_ref(), LayoutRef(new Layout(x.shape(), y.strides())), y.offset(), y.dtype());
  };
  const Tensor long_values = as_long(values), long_places = as_long(places);
  Launch launch(recorder);
  Arguments arguments{};
  arguments.values = launch.writes(values);
  arguments.places = launch.writes(places);
  arguments.operand = launch.reads(x);
  arguments.kept = uint64_t(kept);
  const Tensor* tensors[] = {&x, &long_values, &long_places};
  arguments.rows = rows_along(dim, tensors);
  static const ShaderCode& code = find_shader("sort");
  launch.run(code, {0, 256, std::max<uint32_t>(2, std::bit_ceil(uint32_t(length))), uint32_t(descending)},
             {group_count(arguments.rows.count, recorder)}, bytes_of(arguments));
}

void run_sort(const Call& call, Recorder& recorder) { order<0>(call, call.flag(1), length_of<0>(call), recorder); }
void run_topk(const Call& call, Recorder& recorder) { order<1>(call, call.flag(2), call.integer(0), recorder); }

}  // namespace

std::vector<KernelEntry> sort_kernels() {
  return {{find_op("sort"), {supports<0>, run_sort}}, {find_op("topk"), {supports<1>, run_topk}}};
}

}  // namespace lunagrad::gpu
