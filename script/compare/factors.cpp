#include "script/compare/factors.h"

#include "runtime/ops.h"
#include "script/compare/side.h"

namespace lunagrad {
namespace {

Tensor in_full(const Tensor& x) {
  const Tensor here = moved(x, cpu_device());
  return to(here, is_complex(here.dtype()) ? DType::c128 : DType::f64);
}

// a diag(values) b
Tensor product(const Tensor& a, const Tensor& values, const Tensor& b) {
  return to(matmul(in_full(a) * unsqueeze(in_full(values), -2), in_full(b)), a.dtype());
}

}  // namespace

TensorList comparable(const KeptNode& node, const TensorList& outputs) {
  const std::string_view name = node.op->name;
  const NoGrad off;
  if (name == "linalg.svd") {
    const int64_t count = outputs[1].size(-1);
    return {product(narrow(outputs[0], -1, 0, count), outputs[1], narrow(outputs[2], -2, 0, count)),
            outputs[1]};
  }
  if (name == "linalg.eigh")
    return {outputs[0], product(outputs[1], outputs[0], conj(transpose(outputs[1], -2, -1)))};
  return outputs;
}

}  // namespace lunagrad
