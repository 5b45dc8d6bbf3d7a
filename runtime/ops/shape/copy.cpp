// Copies: into new memory, into existing memory, and between devices.
#include "runtime/ops/elementwise/cpu/copy.h"

#include "runtime/batching/batched.h"
#include "runtime/core/device_types.h"
#include "runtime/core/script_numbers.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

void copy_into(const Tensor& out, const Tensor& in) {
  copy_strided(out.raw(), out.dtype(), out.strides(), in.raw(), in.dtype(), in.strides(), out.shape());
}

void scatter_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }
void scatter_cpu(const Call& call) {
  const Tensor &base = call.input(0), &value = call.input(1), &out = call.output();
  copy_into(out, base);
  char* to = static_cast<char*>(out.raw()) + size_t(call.integer(1)) * item_size(out.dtype());
  if (value.numel() > 0)
    copy_strided(to, out.dtype(), call.list(0), value.raw(), value.dtype(), value.strides(), value.shape());
}
void scatter_vjp(Backward& b) {
  const Tensor g = contiguous(b.grad());
  if (b.needs(0))
    b.set(0, as_strided_scatter(g, blank(b.shape(1), g.dtype(), g.device()), b.list(0), b.integer(1)));
  if (b.needs(1)) b.set(1, as_strided(g, b.shape(1), b.list(0), b.integer(1)));
}
const Op kAsStridedScatter{
    .name = "_as_strided_scatter",
    .doc = "A contiguous copy of base with value written at the given strides and offset.",
    .inputs = {{"base"}, {"value"}},
    .params = {{"stride", ParamKind::integers, {}}, {"storage_offset", ParamKind::integer, 0}},
    .shape = scatter_shape,
    .cpu = scatter_cpu,
    .vjp = scatter_vjp,
    .complex = true,
    .family = OpFamily::view,
    .flops = kMovesData};

void clone_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.is_contiguous())
    call.emit(x.layout(), x.dtype());
  else
    call.emit(x.shape(), x.dtype());
}
void clone_cpu(const Call& call) { copy_into(call.output(), call.input(0)); }
void clone_vjp(Backward& b) { b.set(0, b.grad()); }
const Op kClone{.name = "clone",
                .doc = "A contiguous copy of input.",
                .inputs = {{"input"}},
                .shape = clone_shape,
                .cpu = clone_cpu,
                .vjp = clone_vjp,
                .complex = true,
                .family = OpFamily::view,
                .flops = kMovesData};

Operands contiguous_compose(const Call& call) {
  return {call.input(0).is_contiguous() ? call.input(0) : clone(call.input(0))};
}
const Op kContiguous{.name = "contiguous",
                     .doc = "input itself if it is contiguous, else a contiguous copy.",
                     .inputs = {{"input"}},
                     .compose = contiguous_compose,
                     .family = OpFamily::view,
                     .flops = kMovesNothing};

// Overwrites operand 0 with operand 1; only called in place.
void copy_shape(Call& call) {
  const Tensor &x = call.input(0), &value = call.input(1);
  if (!broadcasts_to(value.shape(), x.shape()))
    fail("copy_: a value of shape ", value.shape(), " does not fit the target of shape ", x.shape());
  if (is_complex(value.dtype()) && !is_complex(x.dtype()))
    fail("copy_: a ", value.dtype(), " value cannot be written into a tensor of type ", x.dtype());
  if (value.is_number() && is_integral(x.dtype())) check_converts("copy_", x.dtype(), value_of(value));
  call.emit(x.shape(), x.dtype());
}
void copy_cpu(const Call& call) {
  const Tensor &value = call.input(1), &out = call.output();
  copy_strided(out.raw(), out.dtype(), out.strides(), value.raw(), value.dtype(),
               broadcast_strides(value.shape(), value.strides(), out.shape()), out.shape());
}
void copy_vjp(Backward& b) { b.set(1, b.grad()); }
// The first operand is written and not read.
double copy_bytes(const Call& call) {
  return double(call.input(1).nbytes()) + double(call.output().nbytes());
}
const Op kCopy{.name = "_copy",
               .doc = "Overwrites the first operand with the second, broadcasting and casting it.",
               .inputs = {{"input"}, {"src"}},
               .shape = copy_shape,
               .cpu = copy_cpu,
               .vjp = copy_vjp,
               .complex = true,
               .family = OpFamily::view,
               .flops = kMovesData,
               .bytes = copy_bytes};

void to_device_vjp(Backward& b) {
  // A node knows the device of its outputs; the device of the input is a parameter.
  b.set(0, to(b.grad(), require_device(interned(uint32_t(b.integer(0))))));
}
const Op kToDevice{.name = "_to_device",
                   .doc = "A copy on another device.",
                   .inputs = {{"input"}},
                   .params = {{"from", ParamKind::integer, {}}},
                   .vjp = to_device_vjp,
                   .family = OpFamily::view,
                   .flops = kMovesData};

}  // namespace

Tensor clone(const Tensor& x) { return apply1(kClone, {x}); }
Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }
Tensor copy_(const Tensor& x, const Tensor& value) {
  if (value.device().name() == x.device().name() || value.is_number())
    return apply_in_place(kCopy, {x, value});
  return apply_in_place(kCopy, {x, to(value, x.device())});
}
Tensor fill_(const Tensor& x, double value) { return copy_(x, Tensor::number(value)); }

Tensor to(const Tensor& x, Device& wanted) {
  if (&x.device() == &wanted) return x;
  Device& device = physical_device(wanted);  // for a batched tensor the device of its values
  if (&x.device() == &device) return x;
  if (is_batched(x)) throw BatchedRead();
  require_type_on(device, x.dtype(), "to");
  const uint64_t start = ticks();
  x.storage().check_whole("to");
  const Tensor dense = contiguous(x);
  Tensor result = Tensor::empty(x.shape(), x.dtype(), device);
  const size_t bytes = result.nbytes(), skip = size_t(dense.offset()) * item_size(x.dtype());
  if (bytes == 0) {
  } else if (x.device().is_cpu()) {
    device.copy_in(result.storage().data(), 0, dense.raw(), bytes);
  } else if (device.is_cpu()) {
    x.device().copy_out(result.raw(), dense.storage().data(), skip, bytes);
  } else {
    return to(to(x, cpu_device()), device);
  }
  Call call;
  call.op = &kToDevice;
  call.in = {x};
  call.out = {result};
  call.params = {int64_t(intern(x.device().name()))};
  const uint64_t elapsed = ticks() - start;
  if (context().trace) context().trace->ran(call, elapsed);
  if (context().grad_enabled) record(call, elapsed);
  return result;
}

Tensor as_strided_scatter(const Tensor& base, const Tensor& value, const Strides& strides, int64_t offset) {
  return apply1(kAsStridedScatter, {base, value}, {Value(strides), offset});
}

std::span<const Op* const> copy_ops() {
  static constexpr const Op* ops[] = {&kClone, &kContiguous, &kCopy, &kAsStridedScatter, &kToDevice};
  return ops;
}

}  // namespace lunagrad
