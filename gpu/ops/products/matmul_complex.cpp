// Complex matrix products as real ones. Rows of A and C are read as alternating real and imaginary parts. B
// becomes a real matrix with twice as many rows and columns. This takes as many operations as complex
// arithmetic and uses the f32 kernels.
#include "gpu/ops/elementwise/complex.h"
#include "gpu/ops/products/matmul_types.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct MatmulComplexArguments {
  uint64_t result, operand;
  uint32_t count, columns, dims, padding;
  uint32_t size[8];
  int64_t stride[8];
};

// A contiguous c64 tensor as f32. Real and imaginary parts alternate along the last dim, or with `apart` have
// a last dim of their own.
Tensor with_parts(const Tensor& z, bool apart = false) {
  Shape shape = z.shape();
  if (apart)
    shape.push_back(2);
  else
    shape[shape.size() - 1] *= 2;
  return Tensor(z.storage_ref(), Layout::contiguous(shape), 2 * z.offset(), DType::f32);
}

// [.., k, n] -> [.., 2k, 2n]. With `transposed`, both b and the result are transposed.
Tensor doubled_matrix(const Tensor& b, bool transposed, Recorder& recorder) {
  Shape shape = b.shape();
  shape[b.ndim() - 2] *= 2;
  shape[b.ndim() - 1] *= 2;
  const Tensor made = Tensor::empty(shape, DType::f32, b.device());
  if (b.numel() == 0) return made;
  Launch launch(recorder);
  MatmulComplexArguments arguments{};
  arguments.result = launch.writes(made);
  arguments.operand = launch.reads(b);
  arguments.count = uint32_t(b.numel());
  arguments.columns = uint32_t(b.size(-1));
  arguments.dims = uint32_t(b.ndim());
  for (int d = 0; d < b.ndim(); ++d) {
    arguments.size[d] = uint32_t(b.size(d));
    arguments.stride[d] = b.strides()[d];
  }
  launch.run(shaders::MatmulComplex{.transposed = transposed}, {groups_for(arguments.count, recorder)},
             bytes_of(arguments));
  return made;
}

}  // namespace

void run_complex_matmul(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const bool vector = call.input(1).ndim() == 1;
  const Tensor b = vector ? unsqueeze(call.input(1), 1) : call.input(1);
  // Adjacent invocations should read adjacent elements.
  const bool turned = b.strides()[b.ndim() - 1] > b.strides()[b.ndim() - 2];
  Call real;
  real.op = find_op("matmul");
  real.in = {with_parts(contiguous(call.input(0))),
             turned ? transpose(doubled_matrix(transpose(b, -2, -1), true, recorder), -2, -1)
                    : doubled_matrix(b, false, recorder)};
  real.out.push_back(with_parts(call.output(), vector));
  find_kernel(*real.op)->run(real, recorder);
}

void run_complex_linear(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Call real;
  real.op = find_op("linear");
  real.params = call.params;
  real.in = {with_parts(contiguous(call.input(0))), doubled_matrix(call.input(1), true, recorder)};
  if (call.has(2)) real.in.push_back(with_parts(contiguous(call.input(2))));
  real.out.push_back(with_parts(call.output()));
  find_kernel(*real.op)->run(real, recorder);
}

}  // namespace lunagrad::gpu
