#pragma once
// Temporary memory of a kernel, allocated from the CPU device. Owned by one thread; uninitialised.
#include <cstdint>

#include "runtime/device.h"

namespace lunagrad {

template <class T>
class Workspace {
 public:
  explicit Workspace(int64_t count)
      : bytes_(size_t(count) * sizeof(T)), data_(static_cast<T*>(cpu_device().alloc(bytes_))) {}
  ~Workspace() { cpu_device().free(data_, bytes_); }
  Workspace(const Workspace&) = delete;
  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace lunagrad
