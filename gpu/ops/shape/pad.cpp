// pad with a constant: a fill, then a copy of the tensor, cropped where a width is negative.
#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {
namespace {

bool supports_pad(const Call& call) { return call.output().dtype() != DType::f64; }

void run_pad(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  const Dims& widths = call.list(0);  // pairs, the last dim's pair first
  copy(out, Tensor::number(call.real(1)), recorder);
  Shape shape = x.shape();
  int64_t from = 0, to = 0;
  for (int i = 0; i < widths.size() / 2; ++i) {
    const int d = x.ndim() - 1 - i;
    const int64_t before = widths[2 * i];
    const int64_t first = std::clamp<int64_t>(before, 0, out.size(d));
    const int64_t end = std::clamp<int64_t>(before + x.size(d), first, out.size(d));
    shape[d] = end - first;
    from += std::max<int64_t>(-before, 0) * x.strides()[d];
    to += first * out.strides()[d];
  }
  if (numel(shape) == 0) return;
  copy(window(out, shape, out.strides(), to), window(x, shape, x.strides(), from), recorder);
}

}  // namespace

std::vector<KernelEntry> pad_kernels() { return {{find_op("_pad"), {supports_pad, run_pad, true}}}; }

}  // namespace lunagrad::gpu
