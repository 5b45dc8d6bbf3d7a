#pragma once
// Copies from a device to host memory, and back, that go on beside the other work of the device and of the
// script's thread: for data that travels to other processes.
#include <cstddef>
#include <memory>

namespace lunagrad {

// Host memory that the device writes and reads directly. It belongs to the device and lives as long as this
// object, which must not outlive the tensor that it was copied from.
class HostCopy {
 public:
  virtual ~HostCopy() = default;
  virtual void* data() = 0;
  // Returns when data() holds the elements. Any thread. Error of kind device if they do not come.
  virtual void wait() = 0;
  // Copies data() to a range of the same device and size, after all work that the device was given before.
  // Returns at once; from then on data() must not change.
  virtual void copy_in(void* handle, size_t offset) = 0;
};

// Implemented by devices that can do so.
class HostCopies {
 public:
  // Begins to copy a range of the device's memory (device.h) to the host, after the work that it was given so
  // far. Null where the range is empty or too large to be copied at once. Error of kind device or memory.
  virtual std::unique_ptr<HostCopy> begin_copy_out(const void* handle, size_t offset, size_t bytes) = 0;

 protected:
  ~HostCopies() = default;
};

}  // namespace lunagrad
