// im2col and col2im, f32, and the gradient of unfold, f32 and c64.
#include "gpu/ops/nn/unfold.h"

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"
#include "runtime/ops/nn/resize_geometry.h"

namespace lunagrad::gpu {
namespace {

bool supports_im2col(const Call& call) {
  return call.input(0).dtype() == DType::f32 && indexable(call.input(0)) && indexable(call.output());
}

void run_im2col(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const ConvGeometry g = window_geometry(call);
  const Tensor image = reshape(call.input(0), {g.batch, g.in_channels, g.in[1], g.in[2]});
  const Tensor padded = pad(image, {g.padding[2], g.padding[2], g.padding[1], g.padding[1]});
  const Strides s = padded.strides();
  const Shape shape{g.batch, g.in_channels, g.kernel[1], g.kernel[2], g.out[1], g.out[2]};
  const Tensor windows = window(
      padded, shape,
      {s[0], s[1], g.dilation[1] * s[2], g.dilation[2] * s[3], g.stride[1] * s[2], g.stride[2] * s[3]});
  copy(window(call.output(), shape, contiguous_strides(shape)), windows, recorder);
}

// The arguments of fold.comp, in the same layout.
struct FoldAxis {
  int32_t size, out_size;
  int32_t kernel, stride, padding, dilation;
};
struct FoldArguments {
  uint64_t result, columns;
  uint32_t count;
  Divisor by_slices, by_rows, by_columns;
  FoldAxis axes[3];
};

void run_col2im(const Call& call, Recorder& recorder) {
  const NoGrad off;
  add_columns(contiguous(call.input(0)), window_geometry(call), call.output(), recorder);
}

bool supports_fold(const Call& call) {
  return part_type(call.input(0).dtype()) == DType::f32 && indexable(call.input(0)) &&
         indexable(call.output());
}

// Adds each window to the positions that it was read from. The loop is over the offsets within a window: at
// one offset, all windows have different positions.
void run_fold(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &g = call.input(0), &out = call.output();
  const int dim = int(call.integer(0));
  const int64_t step = call.integer(1), size = g.size(-1);
  copy(out, Tensor::number(0.0), recorder);
  Shape shape = g.shape();
  shape.erase(shape.size() - 1);
  Strides strides = out.strides();
  strides[dim] *= step;
  for (int64_t j = 0; j < size; ++j) {
    const Tensor met = window(out, shape, strides, j * out.strides()[dim]);
    copy(met, met + select(g, -1, j), recorder);
  }
}

}  // namespace

void add_columns(const Tensor& columns, const ConvGeometry& g, const Tensor& image, Recorder& recorder) {
  Launch launch(recorder);
  FoldArguments a{};
  a.result = launch.writes(image);
  a.columns = launch.reads(columns);
  a.count = uint32_t(image.numel());
  a.by_slices = Divisor(uint32_t(g.in[0]));
  a.by_rows = Divisor(uint32_t(g.in[1]));
  a.by_columns = Divisor(uint32_t(g.in[2]));
  for (size_t d = 0; d < 3; ++d)
    a.axes[d] = {int32_t(g.in[d]),     int32_t(g.out[d]),     int32_t(g.kernel[d]),
                 int32_t(g.stride[d]), int32_t(g.padding[d]), int32_t(g.dilation[d])};
  launch.run(shaders::Fold{.dilated = g.dilation != ConvGeometry::Sizes{1, 1, 1}},
             {groups_for(a.count, recorder)}, bytes_of(a));
}

std::vector<KernelEntry> unfold_kernels() {
  return {{find_op("im2col"), {supports_im2col, run_im2col}},
          {find_op("col2im"), {supports_im2col, run_col2im}},
          {find_op("_fold_windows"), {supports_fold, run_fold, true}}};
}

}  // namespace lunagrad::gpu
