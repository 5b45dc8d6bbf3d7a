#include "runtime/core/op.h"

#include <algorithm>

#include "runtime/core/shared_device.h"

namespace lunagrad {

bool Value::operator==(const Value& other) const {
  if (kind != other.kind) return false;
  switch (kind) {
    case Kind::none:
      return true;
    case Kind::boolean:
      return b == other.b;
    case Kind::integer:
      return i == other.i;
    case Kind::real:
      return f == other.f;
    case Kind::list:
      return list == other.list;
  }
  return false;
}

std::string input_name(const Op& op, size_t i) {
  if (op.inputs.empty()) return text("operand ", i + 1);
  const size_t last = op.inputs.size() - 1;
  if (i < last || !op.inputs[last].list) return op.inputs[std::min(i, last)].name;
  return text(op.inputs[last].name, '[', i - last + 1, ']');
}

// run() provides the memory of a new output.
void Call::emit(const Shape& shape, DType dtype) {
  out.push_back(Tensor(Ref<Storage>(), Layout::contiguous(shape), 0, dtype));
}
void Call::emit(LayoutRef layout, DType dtype) {
  assert(layout->contiguous_);
  out.push_back(Tensor(Ref<Storage>(), std::move(layout), 0, dtype));
}

void Call::emit_view(const Tensor& of, const Shape& shape, const Strides& strides, int64_t offset) {
  emit_view(of, of.dtype(), shape, strides, offset);
}

void Call::emit_view(const Tensor& of, DType dtype, const Shape& shape, const Strides& strides,
                     int64_t offset) {
  Tensor view(of.storage_ref(), LayoutRef(new Layout(shape, strides)), offset, dtype);
  TensorBody& source = *of.body();
  view.body()->base = source.base ? source.base : Ref<TensorBody>(&source);
  view.body()->base_generation = view.body()->base->generation;
  aliases |= 1u << out.size();
  out.push_back(std::move(view));
}

Device& Call::device() const {
  Device* device = nullptr;
  size_t first = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined() || in[i].is_number()) continue;
    Device& its = in[i].device();
    if (!device) {
      device = &its;
      first = i;
    } else if (Device* const shared = shared_device(*device, its)) {
      device = shared;
    } else {
      fail(op->name + (op->hidden() ? 1 : 0), ": operands are on different devices: ", input_name(*op, first),
           " on ", device->name(), ", ", input_name(*op, i), " on ", its.name());
    }
  }
  if (device) return *device;
  return in.empty() ? *context().device : cpu_device();
}

double call_flops(const Call& call) { return call.op->flops.count ? call.op->flops.count(call) : 0; }

double call_bytes(const Call& call) {
  const Op& op = *call.op;
  if (op.bytes) return op.bytes(call);
  if (call.aliases) return 0;
  double total = 0;
  for (const Tensor& x : call.in) {
    if (!x.defined()) continue;
    const bool written = op.writes_inputs && x.storage().last_writer == op.name;
    total += (written ? 2 : 1) * double(x.nbytes());
  }
  for (const Tensor& y : call.out) total += y.defined() ? double(y.nbytes()) : 0;
  return total;
}

}  // namespace lunagrad
