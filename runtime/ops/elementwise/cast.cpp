// Change of element type, by the rules of convert() in dtype.h.
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

void cast_shape(Call& call) {
  const Tensor& x = call.in[0];
  const DType type = DType(call.integer(0));
  if (is_complex(x.dtype()) && !is_complex(type) && type != DType::boolean)
    fail("to: a ", x.dtype(), " tensor is not turned into ", type, "; take its real(), imag() or abs()");
  if (x.is_contiguous()) {
    call.emit(x.layout(), type);
  } else {
    call.emit(x.shape(), type);
  }
}

void cast_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  copy_strided(out.raw(), out.dtype(), out.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
}

// The tape casts gradients to the type of the operand.
void cast_vjp(Backward& b) { b.set(0, b.grad()); }

const Op kCast{.name = "_cast",
               .doc = "The elements converted to another type.",
               .inputs = {{"input"}},
               .params = {{"dtype", ParamKind::dtype}},
               .shape = cast_shape,
               .cpu = cast_cpu,
               .vjp = cast_vjp,
               .complex = true,
               .family = OpFamily::view,
               .flops = kMovesData};

const Op* const kOps[] = {&kCast};

}  // namespace

Tensor to(const Tensor& x, DType type) { return x.dtype() == type ? x : apply1(kCast, {x}, {type}); }

std::span<const Op* const> cast_ops() { return kOps; }

}  // namespace lunagrad
