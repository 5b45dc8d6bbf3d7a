// Tensors of the C library: made from values, read, written, described.
#include <cstring>

#include "capi/engine.h"
#include "capi/shapes.h"
#include "capi/structs.h"
#include "runtime/ops.h"

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

constexpr size_t kTensorInfo = 192;  // size of the first version
static_assert(sizeof(lg_tensor_info) == kTensorInfo);

// Makes a tensor with `make(shape, dtype, device)`.
template <class Make>
lg_code make_tensor(lg_engine* engine, lg_dtype dtype, const int64_t* shape, size_t ndim, const char* device,
                    lg_tensor** tensor, Make make) {
  return wall([&] {
    require(tensor, "tensor");
    Engine& held = engine_of(engine);
    const Work work(held);
    const DType type = dtype_from(dtype);
    *tensor = new_handle(held, make(shape_from(shape, ndim), type, device_of(device)));
  });
}

// Runs f(engine, tensor) for the engine of the handle.
template <class F>
lg_code with_tensor(lg_tensor* tensor, F f) {
  return wall([&] {
    HandleSlot& slot = slot_of(tensor, Kind::tensor);
    Engine& engine = *slot.engine;
    const Work work(engine);
    f(engine, slot.tensor);
  });
}

void check_bytes(const Tensor& x, size_t bytes) {
  if (bytes != x.nbytes())
    refuse(LG_BUFFER_SIZE, "the tensor ", x.shape(), " of ", x.dtype(), " has ", x.nbytes(),
           " bytes, and bytes is ", bytes);
}

}  // namespace

lg_code lg_tensor_empty(lg_engine* engine, lg_dtype dtype, const int64_t* shape, size_t ndim,
                        const char* device, lg_tensor** tensor) {
  return make_tensor(engine, dtype, shape, ndim, device, tensor,
                     [](const Shape& size, DType type, Device& on) {
                       // Any other byte than 0 and 1 is no boolean.
                       return type == DType::boolean ? zeros(size, type, on) : Tensor::empty(size, type, on);
                     });
}

lg_code lg_tensor_zeros(lg_engine* engine, lg_dtype dtype, const int64_t* shape, size_t ndim,
                        const char* device, lg_tensor** tensor) {
  return make_tensor(engine, dtype, shape, ndim, device, tensor,
                     [](const Shape& size, DType type, Device& on) { return zeros(size, type, on); });
}

lg_code lg_tensor_from(lg_engine* engine, const void* data, size_t bytes, lg_dtype dtype,
                       const int64_t* shape, size_t ndim, const char* device, lg_tensor** tensor) {
  return make_tensor(engine, dtype, shape, ndim, device, tensor,
                     [&](const Shape& size, DType type, Device& on) {
                       if (bytes) require(data, "data");
                       Tensor made = Tensor::empty(size, type, on);
                       check_bytes(made, bytes);
                       if (bytes) on.copy_in(made.storage().data(), 0, data, bytes);
                       return made;
                     });
}

lg_code lg_tensor_release(lg_tensor* tensor) {
  if (!tensor) return LG_OK;
  return wall([&] {
    HandleSlot& slot = slot_of(tensor, Kind::tensor);
    const Busy busy(*slot.engine);  // freeing needs no context
    slot.engine->slots.release(slot);
  });
}

lg_code lg_tensor_get_info(lg_tensor* tensor, lg_tensor_info* info) {
  return with_tensor(tensor, [&](Engine&, const Tensor& x) {
    lg_tensor_info found{};
    found.dtype = lg_dtype(x.dtype());
    found.ndim = uint32_t(x.ndim());
    found.flags = (x.is_contiguous() ? LG_TENSOR_CONTIGUOUS : 0) |
                  (x.requires_grad() ? LG_TENSOR_REQUIRES_GRAD : 0) | (x.is_leaf() ? LG_TENSOR_LEAF : 0) |
                  (x.grad().defined() ? LG_TENSOR_HAS_GRAD : 0) |
                  (x.storage().read_only ? LG_TENSOR_READ_ONLY : 0);
    std::copy(x.shape().begin(), x.shape().end(), found.shape);
    std::copy(x.strides().begin(), x.strides().end(), found.strides);
    found.offset = x.offset();
    found.numel = x.numel();
    found.nbytes = x.nbytes();
    found.device = lasting(x.device().name());
    found.id = x.id();
    found.version = x.storage().version;
    write_struct(info, found, kTensorInfo, "lg_tensor_info");
  });
}

lg_code lg_tensor_read(lg_tensor* tensor, void* to, size_t bytes) {
  return with_tensor(tensor, [&](Engine&, const Tensor& x) {
    check_bytes(x, bytes);
    if (bytes == 0) return;
    require(to, "to");
    x.storage().check_whole("lg_tensor_read");
    const NoGrad off;
    const Tensor rows = x.is_contiguous() ? x : contiguous(x);
    rows.device().copy_out(to, rows.storage().data(), size_t(rows.offset()) * item_size(rows.dtype()), bytes);
  });
}

lg_code lg_tensor_write(lg_tensor* tensor, const void* from, size_t bytes) {
  return with_tensor(tensor, [&](Engine&, const Tensor& x) {
    check_bytes(x, bytes);
    Storage& storage = x.storage();
    storage.check_may_write("lg_tensor_write");
    if (bytes == 0) return;
    require(from, "from");
    if (!x.is_contiguous()) {
      const NoGrad off;
      const Tensor value = Tensor::from_bytes(from, bytes, x.shape(), x.dtype());
      copy_(x, x.device().is_cpu() ? value : to(value, x.device()));
      return;
    }
    storage.before_write();
    x.device().copy_in(storage.data(), size_t(x.offset()) * item_size(x.dtype()), from, bytes);
    storage.mark_written("lg_tensor_write");
    if (bytes == storage.bytes) storage.half_written_by = nullptr;
  });
}

lg_code lg_tensor_data(lg_tensor* tensor, int32_t writes, void** data) {
  return with_tensor(tensor, [&](Engine&, const Tensor& x) {
    require(data, "data");
    if (!x.device().is_cpu())
      refuse(LG_DEVICE, "the tensor is on ", x.device().name(),
             ", whose memory has no address; lg_tensor_to() copies it to the CPU");
    if (writes) {
      x.storage().check_may_write("lg_tensor_data");
      x.storage().before_write();
      x.storage().mark_written("lg_tensor_data");
    }
    *data = x.numel() ? x.raw() : nullptr;
  });
}

lg_code lg_tensor_item(lg_tensor* tensor, double* value) {
  return with_tensor(tensor, [&](Engine&, const Tensor& x) {
    require(value, "value");
    *value = x.item();
  });
}

lg_code lg_tensor_to(lg_tensor* tensor, const char* device, lg_dtype dtype, lg_tensor** copy) {
  return with_tensor(tensor, [&](Engine& engine, const Tensor& x) {
    require(copy, "copy");
    Device& target = device ? require_device(device) : x.device();
    const DType type = dtype == -1 ? x.dtype() : dtype_from(dtype);
    // The device that can hold both types converts: c128 is on the CPU alone.
    Tensor made = x;
    if (target.is_cpu()) made = to(made, target);
    made = to(made, type);
    *copy = new_handle(engine, to(made, target));
  });
}

lg_code lg_tensor_detach(lg_tensor* tensor, lg_tensor** detached) {
  return with_tensor(tensor, [&](Engine& engine, const Tensor& x) {
    require(detached, "detached");
    *detached = new_handle(engine, x.detach());
  });
}

lg_code lg_tensor_set_requires_grad(lg_tensor* tensor, int32_t on) {
  return with_tensor(tensor, [&](Engine&, Tensor& x) { x.requires_grad_(on != 0); });
}

lg_code lg_tensor_grad(lg_tensor* tensor, lg_tensor** grad) {
  return with_tensor(tensor, [&](Engine& engine, const Tensor& x) {
    require(grad, "grad");
    Tensor found = x.grad();
    *grad = found.defined() ? new_handle(engine, std::move(found)) : nullptr;
  });
}

lg_code lg_tensor_set_grad(lg_tensor* tensor, lg_tensor* grad) {
  return with_tensor(tensor, [&](Engine& engine, const Tensor& x) {
    if (!grad) return x.set_grad({});
    const Tensor& value = tensor_of(grad, engine);
    value.storage().check_may_write("lg_tensor_set_grad");  // backward adds to it
    x.set_grad(value.detach());  // else its history, or the tensor itself, could own the tensor
  });
}
