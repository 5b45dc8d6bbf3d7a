// complex(): two copies into the parts of the result. Helpers for kernels that work on real and imaginary
// parts.
#include "gpu/ops/elementwise/complex.h"

#include <array>

#include "gpu/ops/copy.h"
#include "runtime/ops.h"
#include "runtime/ops/dense.h"

namespace lunagrad::gpu {
namespace {

bool supports_complex(const Call& call) { return call.output().dtype() == DType::c64; }
void run_complex(const Call& call, Recorder& recorder) {
  for (const int part : {0, 1}) copy(part_view(call.output(), part), call.input(part), recorder);
}

}  // namespace

Tensor part_view(const Tensor& z, int part) {
  return Tensor(z.storage_ref(), LayoutRef(new Layout(z.shape(), doubled(z.strides()))),
                2 * z.offset() + part, DType::f32);
}

Tensor parts_in_a_row(const Tensor& z) {
  if (z.dtype() != DType::c64) return z;
  return Tensor(z.storage_ref(), Layout::contiguous({2 * z.numel()}), 2 * z.offset(), DType::f32);
}

void run_by_parts(const Call& call, void (*real)(const Call&, Recorder&), Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  const auto product = [&](int first, int second, bool begins) {
    Call parts;
    parts.op = call.op;
    parts.params = call.params;
    parts.in = {part_view(call.input(0), first), part_view(call.input(1), second)};
    if (call.in.size() > 2)
      parts.in.push_back(begins && call.has(2) ? part_view(call.input(2), second) : Tensor());
    parts.out.push_back(Tensor::empty(out.shape(), DType::f32, out.device()));
    real(parts, recorder);
    return parts.out[0];
  };
  copy(part_view(out, 0), product(0, 0, true) - product(1, 1, false), recorder);
  copy(part_view(out, 1), product(0, 1, true) + product(1, 0, false), recorder);
}

std::vector<KernelEntry> complex_kernels() {
  return {{find_op("complex"), {supports_complex, run_complex, true}}};
}

}  // namespace lunagrad::gpu
