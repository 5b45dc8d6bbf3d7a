#pragma once
// The structs of DLPack, through which array libraries give each other tensors, as its specification lays
// them out (dmlc.github.io/dlpack/latest/c_api.html), version 1.0. Only capi/ includes this header.
#include <cstdint>

extern "C" {

struct DLDevice {
  int32_t device_type;  // DLPackDevice
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;  // DLPackCode
  uint8_t bits;  // of one lane
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
struct DLPackVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;  // DLPackFlag
  DLTensor dl_tensor;
};

}  // extern "C"

namespace lunagrad::capi {

enum DLPackDevice : int32_t { kDLPackCpu = 1, kDLPackCudaHost = 3, kDLPackRocmHost = 11 };
enum DLPackCode : uint8_t {
  kDLPackInt,
  kDLPackUInt,
  kDLPackFloat,
  kDLPackOpaque,
  kDLPackBfloat,
  kDLPackComplex,
  kDLPackBool
};
enum DLPackFlag : uint64_t { kDLPackReadOnly = 1 };
inline constexpr DLPackVersion kDLPackVersion{1, 0};

}  // namespace lunagrad::capi
