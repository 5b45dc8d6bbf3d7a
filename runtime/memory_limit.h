#pragma once
// A bound on what one thread's work takes: tensors, the tape and other small objects of the engine, and the
// large blocks of its script's heap. Each thread has its own, none at first; it is checked where storage is
// made, and by the heap.
#include <cstddef>

namespace lunagrad {

struct MemoryLimit {
  size_t bytes = 0;  // 0 = none
  const size_t* heap =
      nullptr;  // bytes of the script that are not the pool's; lives as long as the limit is set
};

void set_memory_limit(MemoryLimit);  // of the calling thread
const MemoryLimit& memory_limit();

size_t memory_in_use();  // of all that counts
size_t pool_bytes();     // of the small objects of this thread (ref.h): those of the tape, and of the script

}  // namespace lunagrad
