#pragma once
// A block of device memory that tensors share, with the number of in-place writes to it and the source line
// of the last one. Owned by the tensors and saved values that refer to it. Belongs to one thread (see ref.h).
#include "runtime/device.h"
#include "runtime/ref.h"
#include "runtime/trace.h"

namespace lunagrad {

class Storage final : public Counted, public Pooled<Storage> {
 public:
  Storage(Device&, size_t bytes);
  // Owns `data` from now on, which alloc(bytes) of the device returned, on any thread.
  Storage(Device&, void* data, size_t bytes);
  // Gives the memory away: the caller frees it, on any thread. Its tensors must not be read again.
  void* release();
  ~Storage();
  static void destroy(Storage* storage) { delete storage; }

  Device& device;
  void* data;  // pointer on the CPU, the device's handle elsewhere; changed by release() alone
  size_t bytes;
  uint32_t version = 0;          // counts in-place writes
  const char* last_writer = "";  // name of the op of the last in-place write
  SourceLine last_write;         // script line of the last in-place write
  // The op that was stopped, or failed, during an in-place write here; null when the values are complete.
  const char* torn_by = nullptr;

  // Call this after any change to the bytes of an existing tensor.
  void mark_written(const char* op);
  void mark_torn(const char* op);
  // Error "op: …" when an in-place write did not finish.
  void check_whole(const char* op) const {
    if (torn_by) [[unlikely]]
      refuse_torn(op);
  }

 private:
  [[noreturn]] void refuse_torn(const char* op) const;
};

}  // namespace lunagrad
