// cumsum along a dim, of f32, f16, bf16, the real and imaginary parts of c64, and integers in i64; cumprod of
// f32 and integers (gpu/ops/reductions/scan.comp); the gradients of cumprod and prod
// (gpu/ops/reductions/product_grad.comp).
#include "gpu/ops/reductions/scan.h"

#include "gpu/ops/elementwise/complex.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports_real(const Call& call) {
  const DType type = call.input(0).dtype();
  return (type == DType::f32 || is_integral(type)) && has_indexable_rows(call, 0);
}
bool supports_cumsum(const Call& call) {
  const DType type = call.input(0).dtype();
  return supports_real(call) || ((type == DType::c64 || is_16bit_float(type)) && has_indexable_rows(call, 0));
}

Scan scan_of(const Call& call, const Tensor& out, const Tensor& x) {
  const int dim = normalize_dim(call.op->name, call.integer(0), x.shape());
  return {out, x, nullptr, dim, is_floating(x.dtype()) ? sizeof(float) : sizeof(int64_t)};
}

void run_cumsum(const Call& call, Recorder& recorder) {
  const Tensor &x = call.input(0), &out = call.output();
  const auto run = [&](const Tensor& to, const Tensor& from) {
    Scan scan = scan_of(call, to, from);
    scan.exclusive = call.flag(1);
    scan.reverse = call.flag(2);
    run_scan(shaders::Scan{.mode = uint32_t(from.dtype())}, scan, recorder);
  };
  if (!is_complex(x.dtype())) return run(out, x);
  for (const int part : {0, 1}) run(part_view(out, part), part_view(x, part));
}

void run_cumprod(const Call& call, Recorder& recorder) {
  const Tensor& x = call.input(0);
  run_scan(shaders::Scan{.mode = uint32_t(x.dtype()), .product = true}, scan_of(call, call.output(), x),
           recorder);
}

// The gradient of cumprod, or with `last` the gradient of prod.
template <bool last>
void run_product_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(1), &out = call.output();
  const int dim = normalize_dim(call.op->name, call.integer(0), x.shape());
  run_scan(
      shaders::Scan{.mode = uint32_t(x.dtype()), .product = true},
      {.result = out, .operand = x, .places = nullptr, .dim = dim, .item = sizeof(float), .exclusive = true},
      recorder);
  const Tensor g = last ? expand(call.input(0), x.shape()) : call.input(0);
  constexpr size_t kItem = 8;
  run_scan(shaders::ProductGrad{.last = last},
           {.result = out,
            .operand = x,
            .places = nullptr,
            .dim = dim,
            .item = kItem,
            .reverse = true,
            .other = &g,
            .other_in_fours = !last},
           recorder);
}
bool supports_product_grad(const Call& call) {
  return call.input(0).dtype() == DType::f32 && call.input(1).dtype() == DType::f32 &&
         has_indexable_rows(call, 1);
}

}  // namespace

std::vector<KernelEntry> scan_kernels() {
  return {{find_op("_cumsum"), {supports_cumsum, run_cumsum, true}},
          {find_op("_cumprod"), {supports_real, run_cumprod}},
          {find_op("_cumprod_grad"), {supports_product_grad, run_product_grad<false>}},
          {find_op("_prod_grad"), {supports_product_grad, run_product_grad<true>}}};
}

}  // namespace lunagrad::gpu
