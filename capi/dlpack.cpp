// DLPack in both directions. An export shares the tensor's memory (foreign.h) and holds nothing else of it:
// its deleter may run on any thread, and tensors belong to one.
#include "capi/dlpack_abi.h"
#include "capi/foreign.h"
#include "capi/shapes.h"

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

DLDataType type_to_dlpack(DType dtype) {
  static constexpr uint8_t kCodes[kDTypeCount] = {kDLPackBool,    kDLPackUInt,   kDLPackInt,   kDLPackInt,
                                                  kDLPackFloat,   kDLPackBfloat, kDLPackFloat, kDLPackFloat,
                                                  kDLPackComplex, kDLPackComplex};
  return {kCodes[size_t(dtype)], uint8_t(8 * item_size(dtype)), 1};
}

DType type_from_dlpack(DLDataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DLDataType known = type_to_dlpack(DType(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return DType(i);
  }
  refuse(LG_VALUE, "dlpack: there is no dtype for code ", int(type.code), " with ", int(type.bits),
         " bits and ", type.lanes, " lanes");
}

template <class Managed>
struct Export {
  Managed managed{};
  int64_t shape[kMaxDims], strides[kMaxDims];
  std::shared_ptr<ForeignMemory> memory;
};

constexpr bool is_versioned(const DLManagedTensor&) { return false; }
constexpr bool is_versioned(const DLManagedTensorVersioned&) { return true; }

template <class Managed>
lg_code export_tensor(lg_tensor* tensor, Managed** managed) {
  return capi::wall([&] {
    require(managed, "managed");
    HandleSlot& slot = slot_of(tensor, Kind::tensor);
    const Work work(*slot.engine);
    const Tensor& x = slot.tensor;
    if (!x.device().is_cpu())
      refuse(LG_DEVICE, "dlpack: the tensor is on ", x.device().name(),
             "; lg_tensor_to() copies it to the CPU");
    if (x.requires_grad())
      refuse(LG_VALUE, "dlpack: the tensor requires grad; export what lg_tensor_detach() gives");
    x.storage().check_whole("dlpack");
    auto made = std::make_unique<Export<Managed>>();
    if constexpr (is_versioned(Managed{})) {
      made->managed.version = kDLPackVersion;
      made->managed.flags = x.storage().read_only ? uint64_t(kDLPackReadOnly) : 0;
    } else if (x.storage().read_only) {
      refuse(LG_VALUE, "dlpack: the tensor is read-only, which only the versioned form can say");
    }
    std::copy(x.shape().begin(), x.shape().end(), made->shape);
    std::copy(x.strides().begin(), x.strides().end(), made->strides);
    void* const first = x.numel() ? x.raw() : nullptr;  // computes what is deferred
    made->memory = share_memory(x.storage());
    made->managed.dl_tensor = {.data = first,
                               .device = {kDLPackCpu, 0},
                               .ndim = x.ndim(),
                               .dtype = type_to_dlpack(x.dtype()),
                               .shape = made->shape,
                               .strides = made->strides,
                               .byte_offset = 0};
    made->managed.manager_ctx = made.get();
    made->managed.deleter = [](Managed* given) { delete static_cast<Export<Managed>*>(given->manager_ctx); };
    *managed = &made.release()->managed;
  });
}

// Memory that the deleter of its producer frees.
template <class Managed>
class Imported final : public ForeignMemory {
 public:
  explicit Imported(Managed* managed) : managed_(managed) {}
  ~Imported() override {
    if (managed_ && managed_->deleter) managed_->deleter(managed_);
  }
  void keep() { managed_ = nullptr; }

 private:
  Managed* managed_;
};

template <class Managed>
lg_code import_tensor(lg_engine* engine, Managed* managed, lg_tensor** tensor) {
  return capi::wall([&] {
    require(tensor, "tensor");
    require(managed, "managed");
    Engine& held = engine_of(engine);
    const Work work(held);
    bool read_only = false;
    if constexpr (is_versioned(Managed{})) {
      if (managed->version.major != kDLPackVersion.major)
        refuse(LG_VALUE, "dlpack: version ", managed->version.major, ".", managed->version.minor,
               " is given, and ", kDLPackVersion.major, " is known");
      read_only = managed->flags & kDLPackReadOnly;
    }
    const DLTensor& given = managed->dl_tensor;
    const int32_t device = given.device.device_type;
    if (device != kDLPackCpu && device != kDLPackCudaHost && device != kDLPackRocmHost)
      refuse(LG_DEVICE, "dlpack: the elements are on a device of type ", device,
             ", not in the host's memory");
    if (given.ndim < 0) refuse(LG_INVALID_ARGUMENT, "dlpack: ndim is ", given.ndim);
    ForeignElements elements{given.data ? static_cast<char*>(given.data) + given.byte_offset : nullptr,
                             type_from_dlpack(given.dtype), shape_from(given.shape, size_t(given.ndim)),
                             given.strides, read_only};
    // The strides of no elements, and of dims of size 1, may be anything.
    int64_t strides[kMaxDims];
    if (given.strides) {
      for (int i = 0; i < elements.shape.size(); ++i)
        strides[i] = elements.shape[i] == 1 ? 1 : given.strides[i];
      elements.strides = numel(elements.shape) ? strides : nullptr;
    }
    const size_t bytes = extent_of(elements);
    held.slots.reserve(1);
    auto memory = std::make_unique<Imported<Managed>>(managed);
    Imported<Managed>& imported = *memory;
    std::unique_ptr<ForeignMemory> owner = std::move(memory);
    try {
      *tensor = held.slots.add(foreign_tensor(elements, bytes, owner));
    } catch (...) {
      imported.keep();
      throw;
    }
  });
}

}  // namespace

lg_code lg_tensor_to_dlpack(lg_tensor* tensor, DLManagedTensor** managed) {
  return export_tensor(tensor, managed);
}
lg_code lg_tensor_to_dlpack_versioned(lg_tensor* tensor, DLManagedTensorVersioned** managed) {
  return export_tensor(tensor, managed);
}
lg_code lg_tensor_from_dlpack(lg_engine* engine, DLManagedTensor* managed, lg_tensor** tensor) {
  return import_tensor(engine, managed, tensor);
}
lg_code lg_tensor_from_dlpack_versioned(lg_engine* engine, DLManagedTensorVersioned* managed,
                                        lg_tensor** tensor) {
  return import_tensor(engine, managed, tensor);
}
