#pragma once
// Copies from a device to host memory, and back, that overlap with the device's other work and the script's
// thread. Used for data that is sent to other processes.
#include <cstddef>
#include <memory>

namespace lunagrad {

// Host memory that the device writes and reads directly. The device owns it. It lives as long as this object,
// which must not outlive the tensor that was copied.
class HostCopy {
 public:
  virtual ~HostCopy() = default;
  virtual void* data() = 0;
  // Returns when data() holds the elements. Any thread. Error of kind device if the copy failed.
  virtual void wait() = 0;
  // Copies data() to a range of the same device and size, after all work submitted to the device before.
  // Returns at once; from then on data() must not change.
  virtual void copy_in(void* handle, size_t offset) = 0;
};

// Implemented by devices that can copy in the background.
class HostCopies {
 public:
  // Begins to copy a range of the device's memory (device.h) to the host, after the work submitted so far.
  // Null when the range is empty or too large for one copy. Error of kind device or memory.
  virtual std::unique_ptr<HostCopy> begin_copy_out(const void* handle, size_t offset, size_t bytes) = 0;

 protected:
  ~HostCopies() = default;
};

}  // namespace lunagrad
