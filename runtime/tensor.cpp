#include "runtime/tensor.h"

#include <cstring>

#include "runtime/block_ids.h"
#include "runtime/cpu/pieces.h"
#include "runtime/error.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
void TensorBody::destroy(TensorBody* body) { delete body; }

Tensor::Tensor(Ref<Storage> storage, LayoutRef layout, int64_t offset, DType dtype) : body_(new TensorBody) {
  body_->storage = std::move(storage);
  body_->layout = std::move(layout);
  body_->offset = offset;
  body_->dtype = dtype;
  body_->id = next_block_id<struct TensorIds, uint64_t(1) << 16>();
}

Tensor Tensor::empty(const Shape& shape, DType dtype, Device& device) {
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
  if (count) device.copy_in(result.storage().data, 0, bytes, count);
  return result;
}

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

template <class T>
std::vector<T> Tensor::to_vector() const {
  const NoGrad off;
  storage().check_whole("to_vector");
  const Tensor dense = lunagrad::contiguous(to(*this, cpu_device()));
  std::vector<T> values(static_cast<size_t>(numel()));
  if (!is_complex_v<T> && is_complex(dtype())) refuse_complex(dtype());
  visit_any_dtype(dtype(), [&]<class From>() {
    in_pieces(numel(), [from = static_cast<const From*>(dense.data<From>()), to = values.data()](
                           int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = convert<T>(from[i]);
    });
  });
  return values;
}
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<int32_t> Tensor::to_vector() const;
template std::vector<uint8_t> Tensor::to_vector() const;
template std::vector<std::complex<double>> Tensor::to_vector() const;

namespace {

template <class T>
T item_as(const Tensor& x) {
  if (x.numel() != 1) fail("item: one element expected (got shape ", x.shape(), ")");
  x.storage().check_whole("item");
  if (is_complex(x.dtype()))
    fail("item: a ", x.dtype(), " element is no real number; take its real(), imag() or abs()");
  char bytes[8];
  const size_t size = item_size(x.dtype());
  const uint64_t begin = ticks();
  x.device().copy_out(bytes, x.storage().data, size_t(x.offset()) * size, size);
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
