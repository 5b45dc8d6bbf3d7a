// The ops of the view family that copy: clone, copy_, casts, cat and _as_strided_scatter.
#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {
namespace {

bool supports_clone(const Call&) { return true; }
// Runs clone and _cast, which differ only in the type of the output.
void run_clone(const Call& call, Recorder& recorder) { copy(call.output(), call.input(0), recorder); }

bool supports_cast(const Call& call) { return can_copy(call.input(0), call.output().dtype()); }

bool supports_copy(const Call& call) { return can_copy(call.input(1), call.output().dtype()); }
void run_copy(const Call& call, Recorder& recorder) { copy(call.output(), call.input(1), recorder); }

bool supports_cat(const Call& call) {
  for (const Tensor& x : call.in)
    if (!can_copy(x, call.output().dtype())) return false;
  return true;
}
void run_cat(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  const int dim = int(call.integer(0)) < 0 ? int(call.integer(0)) + out.ndim() : int(call.integer(0));
  int64_t at = 0;
  for (const Tensor& x : call.in) {
    copy(window(out, x.shape(), out.strides(), at * out.strides()[dim]), x, recorder);
    at += x.size(dim);
  }
}

bool supports_scatter(const Call& call) { return can_copy(call.input(1), call.output().dtype()); }
void run_scatter(const Call& call, Recorder& recorder) {
  const Tensor &value = call.input(1), &out = call.output();
  copy(out, call.input(0), recorder);
  copy(window(out, value.shape(), call.list(0), call.integer(1)), value, recorder);
}

}  // namespace

std::vector<KernelEntry> view_kernels() {
  return {{find_op("clone"), {supports_clone, run_clone, true}},
          {find_op("_copy"), {supports_copy, run_copy, true}},
          {find_op("_cast"), {supports_cast, run_clone, true}},
          {find_op("cat"), {supports_cat, run_cat, true}},
          {find_op("_as_strided_scatter"), {supports_scatter, run_scatter, true}}};
}

}  // namespace lunagrad::gpu
