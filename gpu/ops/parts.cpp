#include "gpu/ops/parts.h"

#include <algorithm>
#include <vector>

namespace lunagrad::gpu {
namespace {

// Whether a kernel may refuse the call for the number of its elements alone. Complex products take the
// fewest: a quarter of the limit.
bool has_many(const Call& call) {
  const auto is_large = [](const Tensor& x) {
    return x.defined() && !x.is_number() && x.numel() >= most_elements() / 4;
  };
  return std::any_of(call.in.begin(), call.in.end(), is_large) ||
         std::any_of(call.out.begin(), call.out.end(), is_large);
}

// Whether the kernel takes the call, but for the number of its elements.
bool is_too_large(const Kernel& kernel, const Call& call) {
  if (!has_many(call) || kernel.supports(call)) return false;
  const LimitElements none(INT64_MAX);
  return kernel.supports(call);
}

// Appends calls that the kernel supports and that write the results together, in slices along the outermost
// dims. Returns false if there are none.
bool divide(const Kernel& kernel, const Call& call, std::vector<Call>& parts) {
  if (kernel.supports(call)) {
    parts.push_back(call);
    return true;
  }
  const Shape& shape = call.output().shape();
  const int dim = outermost_dim(shape);
  if (dim < 0) return false;
  bool divided = true;
  in_halves(shape[dim], [&](int64_t first, int64_t size) {
    if (!divided) return;
    Call half = call;
    for (Tensor& y : half.out) y = slice_of(y, dim, first, size);
    divided = kernel.slice(half, dim, first, size) && divide(kernel, half, parts);
  });
  return divided;
}

}  // namespace

bool slice_pointwise(Call& call, int dim, int64_t first, int64_t size) {
  const int dims = call.output().ndim();
  for (Tensor& x : call.in)
    if (x.defined() && !x.is_number()) x = slice_of(x, dim - (dims - x.ndim()), first, size);
  return true;
}

bool runs_in_parts(const Kernel& kernel, const Call& call) {
  if (!(kernel.slice || kernel.run_large) || !is_too_large(kernel, call)) return false;
  std::vector<Call> parts;
  return kernel.run_large || divide(kernel, call, parts);
}

void run_in_parts(const Kernel& kernel, const Call& call, Recorder& recorder) {
  const NoGrad off;
  if (kernel.run_large) return kernel.run_large(call, recorder);
  std::vector<Call> parts;
  divide(kernel, call, parts);
  for (const Call& part : parts) kernel.run(part, recorder);
}

void run_call(const Call& call, Recorder& recorder) {
  const Kernel& kernel = *find_kernel(*call.op);
  kernel.supports(call) ? kernel.run(call, recorder) : run_in_parts(kernel, call, recorder);
}

std::string too_many_elements(const Kernel& kernel, const Call& call) {
  return is_too_large(kernel, call) ? "the device's kernel cannot count so many elements" : "";
}

}  // namespace lunagrad::gpu
