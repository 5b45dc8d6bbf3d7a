#pragma once
// A block of device memory that tensors share, with the number of in-place writes to it and the source line
// of the last one. Owned by the tensors and saved values that refer to it. Belongs to one thread (see ref.h).
#include <memory>
#include <utility>

#include "runtime/core/device.h"
#include "runtime/core/ref.h"
#include "runtime/core/trace.h"

namespace lunagrad {

class CallQueue;

// The owner of memory that no device allocated, such as a host's buffer. Destroyed when the last storage that
// refers to the memory is gone.
class ForeignMemory {
 public:
  virtual ~ForeignMemory() = default;
};

// Tag of a storage without memory yet: a deferred call will write the first values.
struct Unallocated {};

class Storage final : public Counted, public Pooled<Storage> {
 public:
  Storage(Device&, size_t bytes);
  // Takes ownership of `data`, which the device's alloc(bytes) returned, on any thread.
  Storage(Device&, void* data, size_t bytes);
  Storage(Device&, size_t bytes, Unallocated) noexcept;
  // Memory of others, which the device can address. `owner` is not null.
  Storage(Device&, void* data, size_t bytes, std::unique_ptr<ForeignMemory> owner) noexcept;
  // Gives up the memory: the caller frees it, on any thread. Its tensors must not be read again. Memory of
  // others is copied: the result is the device's in any case.
  void* release();
  // The owner of the memory; null: the device. Code that sets it moves the owner before into the new one.
  std::unique_ptr<ForeignMemory>& owner() { return owner_; }
  ~Storage();
  static void destroy(Storage* storage) { delete storage; }

  // A pointer on the CPU, the device's handle elsewhere. First computes deferred calls that write here, so it
  // may throw their errors.
  void* data() const {
    before_read();
    return data_;
  }
  void before_read() const {
    if (writer) [[unlikely]]
      compute();
  }
  // Call this before a change that no op makes. Computes the deferred calls that still need the old values.
  void before_write() const {
    if (writer || reader) [[unlikely]]
      compute();
  }
  // Allocates the memory of a storage that has none; Error of kind memory when it does not fit
  void allocate();
  void free_memory();  // frees the memory; the storage has no memory again

  Device& device;
  size_t bytes;
  // The queue with a deferred call that will write here, or read from here; null: none
  // (deferral/call_queue.h).
  CallQueue* writer = nullptr;
  CallQueue* reader = nullptr;
  uint32_t place = 0;   // index in that queue's table
  uint32_t queued = 0;  // handles to this storage that the queue itself has
  // Whether only one handle refers to it, besides the queue's handles.
  bool held_once() const { return use_count() == queued + 1; }
  uint32_t version = 0;          // counts in-place writes
  bool read_only = false;        // memory of others that must not be written
  const char* last_writer = "";  // name of the op of the last in-place write
  SourceLine last_write;         // script line of the last in-place write
  // The op that was stopped or failed during an in-place write here; null when the values are complete.
  const char* half_written_by = nullptr;

  // Call this after any change to the bytes of an existing tensor.
  void mark_written(const char* op);
  void mark_half_written(const char* op);
  // Error "op: …" when an in-place write did not finish.
  void check_whole(const char* op) const {
    if (half_written_by) [[unlikely]]
      refuse_half_written(op);
  }
  // Error "op: …" when the memory is read-only.
  void check_may_write(const char* op) const {
    if (read_only) [[unlikely]]
      refuse_write(op);
  }

 private:
  void compute() const;  // implemented in deferral/call_queue.cpp
  [[noreturn]] void refuse_half_written(const char* op) const;
  [[noreturn]] static void refuse_write(const char* op);

  void* data_;
  std::unique_ptr<ForeignMemory> owner_;  // null: the device's alloc() returned the memory
};

}  // namespace lunagrad
