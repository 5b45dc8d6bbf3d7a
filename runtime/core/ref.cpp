#include "runtime/core/ref.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"

namespace lunagrad {
namespace {

thread_local size_t live = 0;  // bytes of slabs, and of blocks outside slabs

}  // namespace

size_t pool_bytes() { return live; }

#ifdef LUNAGRAD_CHECK_THREADS
const void* this_thread() noexcept { return &live; }

void fail_used_by_two_threads() noexcept {
  std::fputs("lunagrad: a second thread uses a tensor, which belongs to the thread that made it\n", stderr);
  std::abort();
}
#endif

#if defined(__SANITIZE_ADDRESS__)

void* pool_allocate(size_t bytes) {
  live += bytes;
  return ::operator new(bytes);
}
void pool_free(void* block, size_t bytes) noexcept {
  if (block) live -= bytes;
  ::operator delete(block);
}
bool pool_must_grow(size_t) { return true; }

#else

namespace {

constexpr size_t kStep = 32;         // size classes are multiples of this
constexpr size_t kLargest = 512;     // larger objects go to the heap
constexpr size_t kSlab = 64 * 1024;  // blocks are parts of slabs of this size

struct FreeBlock {
  FreeBlock* next;
};

// Trivially destructible, so that objects that outlive the thread's other variables can still be freed. Slabs
// are never freed: later blocks of the same size reuse them.
thread_local std::array<FreeBlock*, kLargest / kStep + 1> free_lists{};

void refill(size_t size_class) {
  const size_t bytes = size_class * kStep;
  if (const size_t most = memory_limit().bytes; most && memory_in_use() + kSlab > most)
    fail_as(ErrorKind::memory, "out of memory: small objects fill the limit of ", most >> 20, " MiB");
  char* slab = static_cast<char*>(::operator new(kSlab));
  live += kSlab;
  for (size_t at = 0; at + bytes <= kSlab; at += bytes) {
    auto* block = reinterpret_cast<FreeBlock*>(slab + at);
    block->next = free_lists[size_class];
    free_lists[size_class] = block;
  }
}

}  // namespace

bool pool_must_grow(size_t bytes) { return bytes > kLargest || !free_lists[(bytes + kStep - 1) / kStep]; }

void* pool_allocate(size_t bytes) {
  if (bytes > kLargest) {
    void* const block = ::operator new(bytes);
    live += bytes;
    return block;
  }
  const size_t size_class = (bytes + kStep - 1) / kStep;
  if (!free_lists[size_class]) refill(size_class);
  FreeBlock* block = free_lists[size_class];
  free_lists[size_class] = block->next;
  return block;
}

void pool_free(void* block, size_t bytes) noexcept {
  if (!block) return;
  if (bytes > kLargest) {
    live -= bytes;
    return ::operator delete(block);
  }
  const size_t size_class = (bytes + kStep - 1) / kStep;
  auto* freed = static_cast<FreeBlock*>(block);
  freed->next = free_lists[size_class];
  free_lists[size_class] = freed;
}

#endif

}  // namespace lunagrad
