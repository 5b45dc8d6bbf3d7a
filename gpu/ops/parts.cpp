#include "gpu/ops/parts.h"

#include <algorithm>
#include <string_view>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad::gpu {
namespace {

// A reduction whose results of two halves combine to the result of all elements.
struct Reducing {
  const char* op;
  int dims_at;  // positions of the parameters
  bool in_f32;  // results of halves are f32 where the result is a 16-bit float
};
constexpr Reducing kReducing[] = {{"sum", 0, true},   {"prod", 0, true},    {"amax", 0, false},
                                  {"amin", 0, false}, {"all", 0, false},    {"any", 0, false},
                                  {"_norm", 1, true}, {"_nansum", 0, true}, {"mean", 0, true}};

const Reducing* reducing(const Op& op) {
  for (const Reducing& one : kReducing)
    if (std::string_view(one.op) == op.name) return &one;
  return nullptr;
}
// Whether element i of the result depends on element i of the broadcast operands alone.
bool is_pointwise(const Op& op) {
  static const Op* const copies[] = {find_op("clone"), find_op("_copy"), find_op("_cast"),
                                     find_op("full"),  find_op("zeros"), find_op("ones")};
  return bool(elementwise_use(op)) ||
         std::find(std::begin(copies), std::end(copies), &op) != std::end(copies);
}

bool is_large(const Tensor& x) { return x.defined() && !x.is_number() && !indexable(x); }
bool has_large(const Call& call) {
  return std::any_of(call.in.begin(), call.in.end(), is_large) ||
         std::any_of(call.out.begin(), call.out.end(), is_large);
}

// Half of a dim of x; x itself if it is broadcast along the dim.
Tensor half_of(const Tensor& x, int dim, int64_t first, int64_t size) {
  if (dim < 0 || x.shape()[dim] == 1) return x;
  Shape shape = x.shape();
  shape[dim] = size;
  return window(x, shape, x.strides(), first * x.strides()[dim]);
}
// The outermost dim with more than one element, of those in `dims`.
int outermost(const Shape& shape, uint32_t dims) {
  for (int d = 0; d < shape.size(); ++d)
    if (dims >> d & 1 && shape[d] > 1) return d;
  return -1;
}

template <class Run>
void in_halves(int64_t size, Run&& run) {
  run(int64_t(0), size / 2);
  run(size / 2, size - size / 2);
}

void run_pointwise(const Kernel& kernel, const Call& call, Recorder& recorder) {
  if (!has_large(call)) return kernel.run(call, recorder);
  const Shape shape = call.output().shape();
  const int dim = outermost(shape, ~0u);
  in_halves(shape[dim], [&](int64_t first, int64_t size) {
    Call half = call;
    const auto cut = [&](Tensor& x) {
      if (x.defined() && !x.is_number()) x = half_of(x, dim - (shape.size() - x.ndim()), first, size);
    };
    for (Tensor& x : half.in) cut(x);
    for (Tensor& y : half.out) cut(y);
    run_pointwise(kernel, half, recorder);
  });
}

// A call of the reduction over dim 0.
Call over_first_dim(const Call& call, const Reducing& how, const Tensor& x, const Tensor& out) {
  Call whole = call;
  whole.in[0] = x;
  whole.out = {out};
  whole.params[size_t(how.dims_at)] = Value(Dims{0});
  whole.params[size_t(how.dims_at) + 1] = false;
  return whole;
}

void run_reduction(const Kernel& kernel, const Call& call, const Reducing& how, Recorder& recorder) {
  const Tensor x = call.input(0), out = call.output();
  if (!is_large(x) && !is_large(out)) return kernel.run(call, recorder);
  const uint32_t mask = mask_of(call, how.dims_at);
  const bool keeps = call.flag(how.dims_at + 1);
  if (const int dim = outermost(x.shape(), ~mask); dim >= 0) {  // halves of the result
    int of_out = 0;
    for (int d = 0; d < dim; ++d) of_out += keeps || !(mask >> d & 1);
    return in_halves(x.shape()[dim], [&](int64_t first, int64_t size) {
      Call half = call;
      half.in[0] = half_of(x, dim, first, size);
      half.out[0] = half_of(out, of_out, first, size);
      run_reduction(kernel, half, how, recorder);
    });
  }
  const int dim = outermost(x.shape(), mask);
  Shape both = out.shape();
  both.insert(0, 2);
  const DType type = how.in_f32 && is_16bit_float(out.dtype()) ? DType::f32 : out.dtype();
  const Tensor halves = Tensor::empty(both, type, out.device());
  int64_t at = 0;
  in_halves(x.shape()[dim], [&](int64_t first, int64_t size) {
    Call half = call;
    half.in[0] = half_of(x, dim, first, size);
    half.out[0] = window(halves, out.shape(), contiguous_strides(out.shape()), at++ * out.numel());
    run_reduction(kernel, half, how, recorder);
  });
  run_reduction(kernel, over_first_dim(call, how, halves, out), how, recorder);
}

// A mean is the sum of all elements over their number.
void run_mean(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  const Tensor sums =
      Tensor::empty(out.shape(), is_16bit_float(out.dtype()) ? DType::f32 : out.dtype(), out.device());
  Call sum = call;
  sum.op = find_op("sum");
  sum.out = {sums};
  run_reduction(*find_kernel(*sum.op), sum, *reducing(*sum.op), recorder);
  const double count = double(reduced_count(call.input(0).shape(), mask_of(call)));
  Call quotient;
  quotient.op = find_op("div");
  quotient.in = {sums, Tensor::number(count)};
  quotient.out = {out};
  run_pointwise(*find_kernel(*quotient.op), quotient, recorder);
}

// Whether the kernel takes the call if the number of its elements does not count.
bool supports_elements(const Kernel& kernel, const Call& call) {
  const LimitElements none(INT64_MAX);
  return kernel.supports(call);
}

}  // namespace

bool runs_in_parts(const Kernel& kernel, const Call& call) {
  return has_large(call) && (is_pointwise(*call.op) || reducing(*call.op)) && supports_elements(kernel, call);
}

void run_in_parts(const Kernel& kernel, const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Reducing* const how = reducing(*call.op);
  if (!how) return run_pointwise(kernel, call, recorder);
  std::string_view(how->op) == "mean" ? run_mean(call, recorder)
                                      : run_reduction(kernel, call, *how, recorder);
}

std::string too_many_elements(const Kernel& kernel, const Call& call) {
  if (!has_large(call) || !supports_elements(kernel, call)) return {};
  return text("the device has no kernel for tensors of ", most_elements(), " elements or more");
}

}  // namespace lunagrad::gpu
