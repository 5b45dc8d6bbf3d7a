#include "runtime/core/tensor.h"

#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/device_types.h"
#include "runtime/core/error.h"

namespace lunagrad {

Tensor Tensor::empty(const Shape& shape, DType dtype, Device& device) {
  require_type_on(device, dtype, "empty");
  LayoutRef layout = Layout::contiguous(shape);
  size_t bytes;
  if (__builtin_mul_overflow(size_t(layout->numel), item_size(dtype), &bytes))
    fail("shape ", shape, " of ", dtype, " needs more bytes than can be counted");
  return Tensor(Ref<Storage>(new Storage(device, bytes)), std::move(layout), 0, dtype);
}

Tensor Tensor::from_bytes(const void* bytes, size_t count, const Shape& shape, DType dtype, Device& device) {
  Tensor result = empty(shape, dtype, device);
  if (count != result.nbytes())
    fail("shape ", shape, " of ", dtype, " needs ", result.nbytes(), " bytes (got ", count, ")");
  if (count) device.copy_in(result.storage().data(), 0, bytes, count);
  return result;
}

// Also for an operand of an op, since an op asks for its operands' shapes.
void Tensor::fail_undefined() { fail("the tensor is undefined: it has no shape, type or values"); }

Tensor Tensor::number(int64_t value) {
  Tensor result = empty({}, DType::i64);
  *result.data<int64_t>() = value;
  result.body_->is_number = true;
  return result;
}

Tensor Tensor::number(double value) {
  Tensor result = empty({}, DType::f64);
  *result.data<double>() = value;
  result.body_->is_number = true;
  return result;
}

namespace {

template <class T>
T item_as(const Tensor& x) {
  if (!x.is_number()) context().check_may_read();
  if (x.numel() != 1) fail("item: one element expected (got shape ", x.shape(), ")");
  x.storage().check_whole("item");
  if (is_complex(x.dtype()))
    fail("item: a ", x.dtype(), " element is no real number; take its real(), imag() or abs()");
  char bytes[8];
  const size_t size = item_size(x.dtype());
  const uint64_t begin = ticks();
  x.device().copy_out(bytes, x.storage().data(), size_t(x.offset()) * size, size);
  if (context().trace && !x.device().is_cpu()) context().trace->waited(ticks() - begin);
  return visit_dtype(x.dtype(), [&]<class From>() {
    From value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
    return convert<T>(value);
  });
}

}  // namespace

double Tensor::item() const { return item_as<double>(*this); }
int64_t Tensor::item_integer() const { return item_as<int64_t>(*this); }

}  // namespace lunagrad
