#pragma once
// A limit on the memory of one thread's work: tensors, the tape and other small objects of the engine, what
// readers of files hold, and the large blocks of its script's heap. Each thread has its own limit, initially
// none. It is checked when storage is allocated, when a reader charges what it will allocate, and by the
// script's heap.
#include <cstddef>
#include <string_view>

namespace lunagrad {

struct MemoryLimit {
  size_t bytes = 0;  // 0: no limit
  const size_t* heap =
      nullptr;  // bytes of the script that are not the pool's; lives as long as the limit is set
};

void set_memory_limit(MemoryLimit);  // of the calling thread
const MemoryLimit& memory_limit();

// Error of kind memory when a table of `count` entries of `bytes` each, which the limit does not count once
// it is made, does not fit the thread's limit or the machine. For tables whose size a script chooses.
void check_room(size_t count, size_t bytes);

// Memory beside tensors that the limit counts as long as this lives: the buffers and values of the reader of
// a file. It must end on the thread that charged it.
class HeldMemory {
 public:
  HeldMemory() = default;
  ~HeldMemory();
  HeldMemory(const HeldMemory&) = delete;

  // Call it before allocating. Error of kind memory, which begins with `what`, if the bytes fit neither the
  // thread's limit nor the machine.
  void add(size_t bytes, std::string_view what);
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

size_t memory_in_use();  // bytes, of everything that the limit counts
size_t
pool_bytes();  // bytes of the slabs of this thread's pooled objects (ref.h): the tape's and the script's
size_t interned_bytes();  // bytes of all interned texts (trace.h), which live as long as the process
// Whether pool_allocate(bytes) would take another slab.
bool pool_must_grow(size_t bytes);

}  // namespace lunagrad
