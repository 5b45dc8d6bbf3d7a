#include "capi/foreign.h"

#include "capi/shapes.h"
#include "capi/structs.h"

namespace lunagrad::capi {
namespace {

constexpr size_t kWrap = 64;  // size of the first version
static_assert(sizeof(lg_wrap) == kWrap);

Strides strides_of(const ForeignElements& given) {
  if (!given.strides) return contiguous_strides(given.shape);
  return dims_from(given.strides, size_t(given.shape.size()), "strides");
}

// Memory that a host's function releases.
class HostMemory final : public ForeignMemory {
 public:
  HostMemory(const lg_wrap& wrap) : release_(wrap.release), user_(wrap.user), data_(wrap.data) {}
  ~HostMemory() override {
    if (release_) release_(user_, data_);
  }
  void keep() { release_ = nullptr; }

 private:
  void (*release_)(void*, void*);
  void *user_, *data_;
};

// Memory of a device whose storage is gone or shares it.
class DeviceBlock final : public ForeignMemory {
 public:
  explicit DeviceBlock(Storage& storage)
      : device_(storage.device), data_(storage.data()), bytes_(storage.bytes) {}
  ~DeviceBlock() override { device_.free(data_, bytes_); }

 private:
  Device& device_;
  void* data_;
  size_t bytes_;
};

// A storage's share of memory.
class Share final : public ForeignMemory {
 public:
  std::shared_ptr<ForeignMemory> memory;
};

}  // namespace

size_t extent_of(const ForeignElements& given) {
  const size_t item = item_size(given.dtype);
  if (uintptr_t(given.data) % item_size(part_type(given.dtype)) != 0)
    refuse(LG_INVALID_ARGUMENT, "data is not aligned to elements of ", given.dtype);
  if (numel(given.shape) == 0) return 0;
  const Strides strides = strides_of(given);
  int64_t last = 0;
  for (int i = 0; i < given.shape.size(); ++i) {
    if (strides[i] < 0)
      refuse(LG_INVALID_ARGUMENT, "strides ", strides, " are negative; copy the elements first");
    int64_t step;
    if (__builtin_mul_overflow(given.shape[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      refuse(LG_INVALID_ARGUMENT, "strides ", strides, " reach further than can be counted");
  }
  size_t bytes;
  if (__builtin_mul_overflow(size_t(last) + 1, item, &bytes) || bytes > size_t(INT64_MAX))
    refuse(LG_INVALID_ARGUMENT, "strides ", strides, " reach further than can be counted");
  return bytes;
}

Tensor foreign_tensor(const ForeignElements& given, size_t bytes, std::unique_ptr<ForeignMemory>& owner) {
  if (bytes) require(given.data, "data");
  const LayoutRef layout(new Layout(given.shape, strides_of(given)));
  Tensor made(Ref<Storage>(new Storage(cpu_device(), given.data, bytes, std::make_unique<Share>())), layout,
              0, given.dtype);
  made.storage().owner() = std::move(owner);
  made.storage().read_only = given.read_only;
  return made;
}

std::shared_ptr<ForeignMemory> share_memory(Storage& storage) {
  if (auto* const share = dynamic_cast<Share*>(storage.owner().get())) return share->memory;
  auto share = std::make_unique<Share>();
  if (storage.owner()) {
    // The pointer's block is allocated before the owner changes hands, so that a failure changes nothing.
    std::shared_ptr<std::unique_ptr<ForeignMemory>> held = std::make_shared<std::unique_ptr<ForeignMemory>>();
    *held = std::move(storage.owner());
    share->memory = std::shared_ptr<ForeignMemory>(held, held->get());
  } else {
    share->memory = std::make_shared<DeviceBlock>(storage);
  }
  std::shared_ptr<ForeignMemory> memory = share->memory;
  storage.owner() = std::move(share);
  return memory;
}

}  // namespace lunagrad::capi

using namespace lunagrad;
using namespace lunagrad::capi;

lg_code lg_tensor_wrap(lg_engine* engine, const lg_wrap* wrap, lg_tensor** tensor) {
  return capi::wall([&] {
    require(tensor, "tensor");
    Engine& held = engine_of(engine);
    const Work work(held);
    const lg_wrap given = read_struct(wrap, kWrap, "lg_wrap");
    if (given.flags & ~uint32_t(LG_WRAP_READ_ONLY))
      refuse(LG_INVALID_ARGUMENT, "flags has unknown bits (", given.flags, ")");
    const ForeignElements elements{given.data, dtype_from(given.dtype), shape_from(given.shape, given.ndim),
                                   given.strides, (given.flags & LG_WRAP_READ_ONLY) != 0};
    const size_t bytes = extent_of(elements);
    if (bytes > given.bytes)
      refuse(LG_BUFFER_SIZE, "the elements take ", bytes, " bytes, and bytes is ", given.bytes);
    held.slots.reserve(1);
    auto memory = std::make_unique<HostMemory>(given);
    HostMemory& host = *memory;
    std::unique_ptr<ForeignMemory> owner = std::move(memory);
    try {
      *tensor = held.slots.add(foreign_tensor(elements, bytes, owner));
    } catch (...) {
      host.keep();
      throw;
    }
  });
}
