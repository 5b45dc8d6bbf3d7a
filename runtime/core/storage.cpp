#include "runtime/core/storage.h"

#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"
#include "runtime/core/ref.h"
#include "runtime/system/memory.h"

namespace lunagrad {
namespace {

thread_local MemoryLimit limit;
thread_local size_t held = 0;  // bytes of HeldMemory

// Returns `bytes`. Error when they exceed the memory limit; `what` names the part of the program that needs
// them.
size_t admitted(size_t bytes, std::string_view what = {}) {
  if (limit.bytes == 0) [[likely]]
    return bytes;
  // An eighth is reserved for the script, which needs memory to report the error.
  const size_t used = memory_in_use(), most = limit.bytes - limit.bytes / 8;
  if (used > most || bytes > most - used)
    fail_as(ErrorKind::memory, "out of memory: ", what, what.empty() ? "" : ": ", bytes,
            " bytes more do not fit beside ", used, " in use within the limit of ", limit.bytes >> 20,
            " MiB, an eighth of which is the script's");
  return bytes;
}

void check_small_objects(size_t bytes) {
  if (memory_in_use() + bytes > limit.bytes)
    fail_as(ErrorKind::memory, "out of memory: small objects fill the limit of ", limit.bytes >> 20, " MiB");
}

}  // namespace

void set_memory_limit(MemoryLimit given) {
  limit = given;
  check_pool_growth(given.bytes ? check_small_objects : nullptr);
}
const MemoryLimit& memory_limit() { return limit; }

void check_room(size_t count, size_t bytes) {
  if (count == 0) return;
  size_t needed;
  if (__builtin_mul_overflow(count, bytes, &needed) || needed > machine_memory())
    fail_as(ErrorKind::memory, "out of memory: a table of ", count, " entries of ", bytes,
            " bytes does not fit this machine's ", machine_memory() >> 20, " MiB");
  admitted(needed);
}

HeldMemory::~HeldMemory() { held -= bytes_; }

void HeldMemory::add(size_t bytes, std::string_view what) {
  if (bytes > machine_memory())
    fail_as(ErrorKind::memory, "out of memory: ", what, ": ", bytes, " bytes do not fit this machine's ",
            machine_memory() >> 20, " MiB");
  admitted(bytes, what);
  bytes_ += bytes;
  held += bytes;
}

size_t memory_in_use() {
  const Device& other = *context().device;
  return cpu_device().memory().in_use + (other.is_cpu() ? 0 : other.memory().in_use) + pool_bytes() +
         interned_bytes() + held + (limit.heap ? *limit.heap : 0);
}

Storage::Storage(Device& device_in, size_t bytes_in)
    : device(device_in), bytes(bytes_in), data_(device_in.alloc(admitted(bytes_in))) {}

Storage::Storage(Device& device_in, void* data_in, size_t bytes_in)
    : device(device_in), bytes(bytes_in), data_(data_in) {}

Storage::Storage(Device& device_in, size_t bytes_in, Unallocated) noexcept
    : device(device_in), bytes(bytes_in), data_(nullptr) {}

Storage::Storage(Device& device_in, void* data_in, size_t bytes_in,
                 std::unique_ptr<ForeignMemory> owner) noexcept
    : device(device_in), bytes(bytes_in), data_(data_in), owner_(std::move(owner)) {}

void Storage::allocate() {
  if (!data_) data_ = device.alloc(admitted(bytes));
}

void Storage::free_memory() {
  before_write();
  void* const data = std::exchange(data_, nullptr);
  if (owner_)
    owner_.reset();
  else
    device.free(data, bytes);
}

void* Storage::release() {
  before_write();
  if (owner_) {
    void* const copy = device.alloc(bytes);
    device.copy_in(copy, 0, data_, bytes);
    data_ = copy;
    owner_.reset();
  }
  bytes = 0;
  return std::exchange(data_, nullptr);
}

Storage::~Storage() {
  if (!owner_) device.free(data_, bytes);
}

void Storage::mark_written(const char* op) {
  ++version;
  last_writer = op;
  last_write = context().line;
}

void Storage::mark_half_written(const char* op) {
  mark_written(op);
  half_written_by = op;
}

// half_written_by of a parameter that was resharded (tape/unsharded.h).
extern const char* const kResharded = "a sharded model";

void Storage::refuse_write(const char* op) {
  if (*op == '_') ++op;  // a hidden record: `x[1] = y` is a _copy
  fail(op, ": the tensor is on read-only memory of the host and cannot be changed in place; use a clone");
}

void Storage::refuse_half_written(const char* op) const {
  if (half_written_by == kResharded)
    fail(op,
         ": a parameter of a sharded model is whole only while its group runs; model:state_dict() gives "
         "whole tensors at any time");
  const std::string place = last_write.known() ? " at " + to_string(last_write) : "";
  fail(op, ": a tensor was written only in part, since ", half_written_by, " was stopped", place,
       "; copy_ or fill_ makes it whole");
}

}  // namespace lunagrad
