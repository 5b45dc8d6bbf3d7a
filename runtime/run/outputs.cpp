#include "runtime/run/outputs.h"

#include "runtime/core/device_types.h"

namespace lunagrad {
namespace {

// The bytes of an output. Error when the device cannot hold its dtype.
size_t bytes_of_output(const Call& call, const TensorBody& body, Device& device) {
  require_type_on(device, body.dtype, call.op->name + (call.op->hidden() ? 1 : 0));
  size_t bytes;
  if (__builtin_mul_overflow(size_t(body.layout->numel), item_size(body.dtype), &bytes))
    fail(call.op->name, ": a result of shape ", body.layout->shape, " needs more bytes than can be counted");
  return bytes;
}

}  // namespace

void allocate_output(const Call& call, TensorBody& output, Device& device) {
  output.storage = Ref<Storage>(new Storage(device, bytes_of_output(call, output, device)));
}

void defer_allocation(const Call& call, Device& device) {
  constexpr size_t kSmall = 1 << 20;  // bytes; every device has more
  for (const Tensor& y : call.out) {
    TensorBody& body = *y.body();
    if (body.storage) continue;
    const size_t bytes = bytes_of_output(call, body, device);
    if (bytes > kSmall && bytes > device.memory().total) {
      body.storage = Ref<Storage>(new Storage(device, bytes));
      continue;
    }
    body.storage = Ref<Storage>(new Storage(device, bytes, Unallocated()));
  }
}

}  // namespace lunagrad
