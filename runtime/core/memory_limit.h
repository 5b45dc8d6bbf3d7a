#pragma once
// A limit on the memory of one thread's work: tensors, the tape and other small objects of the engine, the
// buffers of file readers, and the large blocks of its script's heap. Each thread has its own limit,
// initially none. It is checked when storage is allocated, when a reader charges memory before it allocates,
// and by the script's heap.
#include <cstddef>
#include <string_view>

namespace lunagrad {

struct MemoryLimit {
  size_t bytes = 0;  // 0: no limit
  // Bytes of the script's heap outside the pool; lives as long as the limit is set.
  const size_t* heap = nullptr;
};

void set_memory_limit(MemoryLimit);  // of the calling thread
const MemoryLimit& memory_limit();

// Error of kind memory when a table of `count` entries of `bytes` each does not fit the thread's limit or the
// machine. For tables whose size a script chooses; the limit does not count them once they are made.
void check_room(size_t count, size_t bytes);

// Charges memory outside tensors to the limit during the life of the object: a file reader's buffers and
// values. It must be destroyed on the thread that charged it.
class HeldMemory {
 public:
  HeldMemory() = default;
  ~HeldMemory();
  HeldMemory(const HeldMemory&) = delete;

  // Call it before allocating. Error of kind memory, which begins with `what`, if the bytes do not fit the
  // thread's limit or the machine.
  void add(size_t bytes, std::string_view what);
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

size_t memory_in_use();   // bytes of everything that the limit counts
size_t interned_bytes();  // bytes of all interned texts (trace.h), which live as long as the process

}  // namespace lunagrad
