#pragma once
// Temporary memory of a kernel, allocated from the CPU device. Owned by one thread; uninitialised.
#include <cstdint>

#include "runtime/core/device.h"
#include "runtime/core/memory_limit.h"

namespace lunagrad {

template <class T>
class Workspace {
 public:
  explicit Workspace(int64_t count)
      : bytes_(admitted(count)), data_(static_cast<T*>(cpu_device().alloc(bytes_))) {}
  ~Workspace() { cpu_device().free(data_, bytes_); }
  Workspace(const Workspace&) = delete;
  T* data() const { return data_; }

 private:
  static size_t admitted(int64_t count) {
    check_room(size_t(count), sizeof(T));
    return size_t(count) * sizeof(T);
  }
  size_t bytes_;
  T* data_;
};

}  // namespace lunagrad
