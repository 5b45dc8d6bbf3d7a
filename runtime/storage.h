#pragma once
// A block of device memory that tensors share, with the count of writes to it and the source line of the
// last. Owned by the tensors and saved values that refer to it; belongs to one thread (see ref.h).
#include "runtime/device.h"
#include "runtime/ref.h"
#include "runtime/trace.h"

namespace lunagrad {

class Storage final : public Counted, public Pooled<Storage> {
 public:
  Storage(Device&, size_t bytes);
  ~Storage();
  static void destroy(Storage* storage) { delete storage; }

  Device& device;
  void* const data;  // pointer on the CPU, the device's handle elsewhere
  const size_t bytes;
  uint32_t version = 0;          // counts writes in place
  const char* last_writer = "";  // name of the op of the last write in place
  SourceLine last_write;         // where the script made it
  // The op that was stopped, or failed, while it wrote here in place; null when the values are whole.
  const char* torn_by = nullptr;

  // Called by whatever changes the bytes of an existing tensor.
  void mark_written(const char* op);
  void mark_torn(const char* op);
  // Error "op: …" when the values were written only in part.
  void check_whole(const char* op) const {
    if (torn_by) [[unlikely]]
      refuse_torn(op);
  }

 private:
  [[noreturn]] void refuse_torn(const char* op) const;
};

}  // namespace lunagrad
