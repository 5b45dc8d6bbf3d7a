#include "runtime/ops/nn/pool_windows.h"

#include <algorithm>

#include "runtime/ops/nn/window_limits.h"

namespace lunagrad {
namespace {

// Windows start every `stride` elements from -padding on. A window must begin inside the input or the padding
// before it; with ceil_mode the last one may extend beyond the padding after it.
int64_t output_size(const WindowAxis& a, bool ceil) {
  const int64_t room = a.in + 2 * a.padding - a.dilation * (a.kernel - 1) - 1;
  if (room < 0 && !(ceil && room + a.stride > 0)) return 0;
  int64_t out = room < 0 ? 1 : (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
  if (ceil && (out - 1) * a.stride >= a.in + a.padding) --out;
  return out;
}

}  // namespace

PoolSizes pool_sizes(const Call& call, int dims, const char* name, const Dims& list, int64_t least) {
  if (list.size() != 1 && list.size() != dims)
    fail(call.op->name, ": ", name, " must be one number",
         dims == 1   ? ""
         : dims == 2 ? " or 2"
                     : " or 3",
         " (got ", list, ")");
  PoolSizes sizes{1, 1, 1};
  for (int i = 0; i < dims; ++i) {
    const int64_t size = list[list.size() == 1 ? 0 : i];
    if (size < least) fail(call.op->name, ": ", name, " must be at least ", least, " (got ", list, ")");
    if (size > kLongestStep)
      fail(call.op->name, ": ", name, " must be at most ", kLongestStep, " (got ", list, ")");
    sizes[size_t(3 - dims + i)] = size;
  }
  return sizes;
}

void check_pooled(const Call& call, int dims, const Shape& x) {
  if (x.size() != dims + 2 && x.size() != dims + 1)
    fail(call.op->name, ": input must be [N, C, ", kSpatialAxes[dims - 1], "] or [C, ",
         kSpatialAxes[dims - 1], "] (got shape ", x, ")");
  for (int d = x.size() - dims; d < x.size(); ++d)
    if (x[d] == 0) fail(call.op->name, ": dim ", d + 1, " of the input of shape ", x, " has no elements");
}

std::array<WindowAxis, 3> window_axes(const Call& call, int dims, const Shape& x, const WindowOptions& o) {
  check_pooled(call, dims, x);
  const char* const name = call.op->name;
  const PoolSizes kernel = pool_sizes(call, dims, "kernel_size", o.kernel_size, 1);
  const PoolSizes stride = o.stride.present() && !o.stride.list.empty()
                               ? pool_sizes(call, dims, "stride", o.stride.list, 1)
                               : kernel;
  const PoolSizes padding = pool_sizes(call, dims, "padding", o.padding, 0);
  const PoolSizes dilation = pool_sizes(call, dims, "dilation", o.dilation, 1);
  std::array<WindowAxis, 3> axes;
  for (size_t k = size_t(3 - dims); k < 3; ++k) {
    const int d = x.size() - 3 + int(k);
    WindowAxis& a = axes[k] = {x[d], 0, kernel[k], stride[k], padding[k], dilation[k]};
    if (a.padding > a.kernel / 2)
      fail(name, ": padding may be at most half of kernel_size (got padding ", a.padding, ", kernel_size ",
           a.kernel, ")");
    a.out = output_size(a, o.ceil_mode);
    if (a.out < 1)
      fail(name, ": no window fits into the input of shape ", x, ": dim ", d + 1, " has ",
           a.in + 2 * a.padding, " elements with padding, a window reaches over ",
           a.dilation * (a.kernel - 1) + 1);
  }
  return axes;
}

}  // namespace lunagrad
