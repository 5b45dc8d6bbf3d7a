// Complex numbers: composition from parts, the parts, and views as pairs of real numbers. In a vjp g is
// dL/dRe y - i dL/dIm y (tape.h), so the gradients of these views contain a conjugation.
#include <numbers>

#include "runtime/core/default_dtype.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

void need_complex(const Call& call) {
  const DType type = call.input(0).dtype();
  if (!is_complex(type)) fail(call.op->name, ": a complex tensor is needed (got ", type, ")");
}

// A number takes the type of the other operand; two numbers have the default type.
DType type_of_parts(const Call& call) {
  const Tensor &re = call.input(0), &im = call.input(1);
  const DType type = !re.is_number() ? re.dtype() : !im.is_number() ? im.dtype() : default_dtype();
  for (const Tensor& part : {re, im})
    if (!part.is_number() && (part.dtype() != type || (type != DType::f32 && type != DType::f64)))
      fail("complex: two tensors of type f32, or two of type f64, are needed (got ", re.dtype(), " and ",
           im.dtype(), ")");
  return type;
}
void complex_shape(Call& call) {
  const Shape shape = broadcast_shapes("complex", call.input(0).shape(), call.input(1).shape());
  call.emit(shape, complex_type(type_of_parts(call)));
}
// Copies each part to every second element.
void complex_cpu(const Call& call) {
  const Tensor& out = call.output();
  const DType type = part_type(out.dtype());
  const Strides strides = doubled(out.strides());
  for (int i = 0; i < 2; ++i) {
    const Tensor& part = call.input(i);
    char* const to = static_cast<char*>(out.raw()) + size_t(i) * item_size(type);
    copy_strided(to, type, strides, part.raw(), part.dtype(),
                 broadcast_strides(part.shape(), part.strides(), out.shape()), out.shape());
  }
}
void complex_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, real(g));
  if (b.needs(1)) b.set(1, -imag(g));
}
const Op kComplex{.name = "complex",
                  .doc = "The complex numbers with the parts real and imag.",
                  .inputs = {{"real"}, {"imag"}},
                  .shape = complex_shape,
                  .cpu = complex_cpu,
                  .vjp = complex_vjp,
                  .family = OpFamily::elementwise,
                  .flops = kMovesData,
                  .number_inputs = 0b11};

// --- the parts ---

// The real (imaginary) parts of a complex tensor: every second element of its memory.
void view_part(Call& call, int part) {
  const Tensor& z = call.input(0);
  call.emit_view(z, part_type(z.dtype()), z.shape(), doubled(z.strides()), 2 * z.offset() + part);
}
void real_shape(Call& call) { view_part(call, 0); }
void imag_shape(Call& call) { view_part(call, 1); }
void real_vjp(Backward& b) { b.set(0, b.grad()); }
void imag_vjp(Backward& b) { b.set(0, complex(Tensor::number(0.0), -b.grad())); }
const Op kRealPart{.name = "_real",
                   .doc = "The real parts of complex numbers as a view.",
                   .inputs = {{"input"}},
                   .shape = real_shape,
                   .vjp = real_vjp,
                   .complex = true,
                   .family = OpFamily::view,
                   .flops = kMovesNothing};
const Op kImagPart{.name = "_imag",
                   .doc = "The imaginary parts of complex numbers as a view.",
                   .inputs = {{"input"}},
                   .shape = imag_shape,
                   .vjp = imag_vjp,
                   .complex = true,
                   .family = OpFamily::view,
                   .flops = kMovesNothing};

Operands real_compose(const Call& call) { return {real(call.input(0))}; }
Operands imag_compose(const Call& call) {
  need_complex(call);
  return apply(kImagPart, call.in);
}
const Op kReal{.name = "real",
               .doc = "The real parts of input, a view; a real input itself.",
               .inputs = {{"input"}},
               .compose = real_compose,
               .family = OpFamily::view,
               .flops = kMovesNothing};
const Op kImag{.name = "imag",
               .doc = "The imaginary parts of input, a view.",
               .inputs = {{"input"}},
               .compose = imag_compose,
               .family = OpFamily::view,
               .flops = kMovesNothing};

Operands angle_compose(const Call& call) {
  const Tensor& z = call.input(0);
  if (is_complex(z.dtype())) return {atan2(imag(z), real(z))};
  const Tensor x = is_floating(z.dtype()) ? z : to(z, default_dtype()), zero = Tensor::number(0.0);
  return {where(isnan(x), x, where(lt(x, zero), Tensor::number(std::numbers::pi), zero * x))};
}
const Op kAngle{
    .name = "angle",
    .doc = "The angle of a complex input, from -pi to pi; of a real one 0, or pi where it is negative.",
    .inputs = {{"input"}},
    .compose = angle_compose,
    .family = OpFamily::elementwise};

// --- pairs of real numbers ---

void as_real_shape(Call& call) {
  need_complex(call);
  const Tensor& z = call.input(0);
  if (z.ndim() == kMaxDims)
    fail("view_as_real: at most ", kMaxDims, " dims are possible, one of them for the parts");
  Shape shape = z.shape();
  Strides strides = doubled(z.strides());
  shape.push_back(2);
  strides.push_back(1);
  call.emit_view(z, part_type(z.dtype()), shape, strides, 2 * z.offset());
}
void as_real_vjp(Backward& b) { b.set(0, conj(view_as_complex(contiguous(b.grad())))); }
const Op kViewAsReal{.name = "view_as_real",
                     .doc = "Complex numbers as pairs in a new last dim, real part first; a view.",
                     .inputs = {{"input"}},
                     .shape = as_real_shape,
                     .vjp = as_real_vjp,
                     .complex = true,
                     .family = OpFamily::view,
                     .flops = kMovesNothing};

void as_complex_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.dtype() != DType::f32 && x.dtype() != DType::f64)
    fail("view_as_complex: a tensor of type f32 or f64 is needed (got ", x.dtype(), ")");
  if (x.ndim() == 0 || x.size(-1) != 2)
    fail("view_as_complex: the last dim must have size 2 (got shape ", x.shape(), ")");
  Shape shape = x.shape();
  Strides strides = x.strides();
  bool paired = x.offset() % 2 == 0 && strides.back() == 1;
  shape.erase(shape.size() - 1);
  strides.erase(strides.size() - 1);
  for (int d = 0; d < shape.size(); ++d) {
    paired &= strides[d] % 2 == 0 || shape[d] <= 1;
    strides[d] /= 2;
  }
  if (!paired)
    fail("view_as_complex: pairs must lie in a row at even places (got strides ", x.strides(), " and offset ",
         x.offset(), "); call contiguous() first");
  call.emit_view(x, complex_type(x.dtype()), shape, strides, x.offset() / 2);
}
void as_complex_vjp(Backward& b) { b.set(0, view_as_real(conj(b.grad()))); }
const Op kViewAsComplex{.name = "view_as_complex",
                        .doc = "Pairs in the last dim as complex numbers, real part first; a view.",
                        .inputs = {{"input"}},
                        .shape = as_complex_shape,
                        .vjp = as_complex_vjp,
                        .family = OpFamily::view,
                        .flops = kMovesNothing};

}  // namespace

Tensor complex(const Tensor& re, const Tensor& im) { return apply1(kComplex, {re, im}); }
Tensor real(const Tensor& x) { return is_complex(x.dtype()) ? apply1(kRealPart, {x}) : x; }
Tensor imag(const Tensor& x) { return apply1(kImag, {x}); }
Tensor angle(const Tensor& x) { return apply1(kAngle, {x}); }
Tensor view_as_real(const Tensor& x) { return apply1(kViewAsReal, {x}); }
Tensor view_as_complex(const Tensor& x) { return apply1(kViewAsComplex, {x}); }

std::span<const Op* const> complex_ops() {
  static constexpr const Op* ops[] = {&kComplex,  &kReal,  &kImag,       &kRealPart,
                                      &kImagPart, &kAngle, &kViewAsReal, &kViewAsComplex};
  return ops;
}

}  // namespace lunagrad
