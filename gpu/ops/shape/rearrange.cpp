// flip and roll: copies with other strides.
#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {
namespace {

bool supports_rearrange(const Call&) { return true; }

void run_flip(const Call& call, Recorder& recorder) {
  const Tensor& x = call.input(0);
  Strides strides = x.strides();
  int64_t first = 0;
  const uint32_t mask = call.list(0).empty() ? 0 : dim_mask("flip", call.list(0), x.shape());
  for (int d = 0; d < x.ndim(); ++d)
    if (mask >> d & 1) {
      first += (x.size(d) - 1) * strides[d];
      strides[d] = -strides[d];
    }
  copy(call.output(), window(x, x.shape(), strides, first), recorder);
}

// Along each rolled dim the last `shift` positions move to the front. One copy for each combination of the
// two parts of each dim.
void run_roll(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  const Dims& shifts = call.list(0);
  Dims rolled;
  for (int d = 0; d < x.ndim(); ++d)
    if (shifts[d] != 0) rolled.push_back(d);
  for (int part = 0; part < 1 << rolled.size(); ++part) {
    Shape shape = x.shape();
    int64_t from = 0, to = 0;
    for (int i = 0; i < rolled.size(); ++i) {
      const int d = int(rolled[i]);
      const int64_t shift = shifts[d], rest = x.size(d) - shift;
      const bool last = part >> i & 1;
      shape[d] = last ? shift : rest;
      if (last)
        from += rest * x.strides()[d];
      else
        to += shift * out.strides()[d];
    }
    copy(window(out, shape, out.strides(), to), window(x, shape, x.strides(), from), recorder);
  }
}

}  // namespace

std::vector<KernelEntry> rearrange_kernels() {
  return {{find_op("flip"), {supports_rearrange, run_flip, true}},
          {find_op("_roll"), {supports_rearrange, run_roll, true}}};
}

}  // namespace lunagrad::gpu
