#include "gpu/ops/reductions/halves.h"

#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/parts.h"
#include "runtime/ops.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad::gpu {
namespace {

// Runs the call on both halves of its results. Returns false if it has one result.
bool run_on_slices(const Call& call, int dims_at, int keepdim_at, Recorder& recorder) {
  const Tensor& x = call.input(0);
  const uint32_t mask = mask_of(call, dims_at);
  const int dim = outermost_dim(x.shape(), ~mask);
  if (dim < 0) return false;
  int of_result = 0;
  for (int d = 0; d < dim; ++d) of_result += call.flag(keepdim_at) || !(mask >> d & 1);
  in_halves(x.size(dim), [&](int64_t first, int64_t size) {
    Call half = call;
    half.in[0] = slice_of(x, dim, first, size);
    for (Tensor& y : half.out) y = slice_of(y, of_result, first, size);
    run_call(half, recorder);
  });
  return true;
}

// The type in which results of halves are kept.
DType type_of_halves(const Tensor& result) {
  return is_16bit_float(result.dtype()) ? DType::f32 : result.dtype();
}

// The mean of elements and the sum of their squared deviations, both f32 [].
struct Moments {
  Tensor mean, squares;
  double count;
};
Moments moments_of(const Tensor& x, Recorder& recorder) {
  Call call;
  call.op = find_op("_var_mean");
  call.in = {x};
  call.params = {Value(), Value(), false, 0};
  for (int i = 0; i < 2; ++i) call.out.push_back(Tensor::empty({}, DType::f32, x.device()));
  if (find_kernel(*call.op)->supports(call)) {
    run_call(call, recorder);
    return {call.output(1), call.output(0) * double(x.numel()), double(x.numel())};
  }
  const int dim = outermost_dim(x.shape());
  Moments all{{}, {}, 0};
  // Chan, Golub, LeVeque, 1979
  in_halves(x.size(dim), [&](int64_t first, int64_t size) {
    const Moments half = moments_of(slice_of(x, dim, first, size), recorder);
    if (all.count == 0) {
      all = half;
      return;
    }
    const Tensor apart = half.mean - all.mean;
    const double count = all.count + half.count;
    all.squares = all.squares + half.squares + square(apart) * (all.count * half.count / count);
    all.mean = all.mean + apart * (half.count / count);
    all.count = count;
  });
  return all;
}

}  // namespace

template <int dims_at>
void reduce_halves(const Call& call, Recorder& recorder) {
  if (run_on_slices(call, dims_at, dims_at + 1, recorder)) return;
  const Tensor &x = call.input(0), &out = call.output();
  Call combined = call;
  combined.in[0] = Tensor::empty({2}, type_of_halves(out), out.device());
  const int dim = outermost_dim(x.shape());
  int half = 0;
  in_halves(x.size(dim), [&](int64_t first, int64_t size) {
    Call call_of_half = call;
    call_of_half.in[0] = slice_of(x, dim, first, size);
    call_of_half.out[0] = window(combined.in[0], out.shape(), contiguous_strides(out.shape()), half++);
    run_call(call_of_half, recorder);
  });
  combined.params[dims_at] = Value();
  combined.params[dims_at + 1] = false;
  combined.out[0] = window(out, {}, {});
  run_call(combined, recorder);
}
template void reduce_halves<0>(const Call&, Recorder&);
template void reduce_halves<1>(const Call&, Recorder&);

void mean_of_halves(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  Call sums = call, quotient;
  sums.op = find_op("sum");
  sums.out[0] = Tensor::empty(out.shape(), type_of_halves(out), out.device());
  run_call(sums, recorder);
  quotient.op = find_op("div");
  quotient.in = {sums.output(), Tensor::number(double(reduced_count(call.input(0).shape(), mask_of(call))))};
  quotient.out = {out};
  run_call(quotient, recorder);
}

void aminmax_of_halves(const Call& call, Recorder& recorder) {
  for (const int i : {0, 1}) {
    Call extreme = call;
    extreme.op = find_op(i == 0 ? "amin" : "amax");
    extreme.out = {call.output(i)};
    run_call(extreme, recorder);
  }
}

template <bool root>
void var_of_halves(const Call& call, Recorder& recorder) {
  if (run_on_slices(call, kDimsAt, kVarKeepdimAt, recorder)) return;
  const Value& unbiased = call.params[kUnbiasedAt];
  const double correction = unbiased.present() ? double(unbiased.b) : double(call.integer(kCorrectionAt));
  const Moments moments = moments_of(call.input(0), recorder);
  const Tensor variance = moments.squares / std::max(0.0, moments.count - correction);
  copy(call.output(), root ? sqrt(variance) : variance, recorder);
  if (call.out.size() == 2) copy(call.output(1), moments.mean, recorder);
}
template void var_of_halves<false>(const Call&, Recorder&);
template void var_of_halves<true>(const Call&, Recorder&);

}  // namespace lunagrad::gpu
