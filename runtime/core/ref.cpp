#include "runtime/core/ref.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace lunagrad {
namespace {

constexpr size_t kStep = 32;      // size classes are multiples of this
constexpr size_t kLargest = 512;  // larger objects go to the heap

size_t class_of(size_t bytes) { return (bytes + kStep - 1) / kStep; }

// Blocks are parts of slabs. A free block holds the address of the next one in its list.
#if defined(__SANITIZE_ADDRESS__)
// A slab has one block and the address behind it. So AddressSanitizer detects a write past the block's end,
// and a block that is never freed. The bytes that nobody may use are poisoned: the block while it is free,
// else the address.
constexpr size_t kLink = sizeof(void*);
size_t blocks_per_slab(size_t) { return 1; }
void*& next_of(void* block, size_t bytes) {
  return *reinterpret_cast<void**>(static_cast<char*>(block) + bytes);
}
void mark_free(void* block, size_t bytes) {
  ASAN_POISON_MEMORY_REGION(block, bytes);
  ASAN_UNPOISON_MEMORY_REGION(&next_of(block, bytes), kLink);
}
void mark_used(void* block, size_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  ASAN_POISON_MEMORY_REGION(&next_of(block, bytes), kLink);
}
#else
constexpr size_t kLink = 0;
size_t blocks_per_slab(size_t bytes) { return 64 * 1024 / bytes; }
void*& next_of(void* block, size_t) { return *static_cast<void**>(block); }
void mark_free(void*, size_t) {}
void mark_used(void*, size_t) {}
#endif

using FreeLists = std::array<void*, kLargest / kStep + 1>;  // for each class the first free block

void push(FreeLists& lists, size_t size_class, void* block) {
  mark_free(block, size_class * kStep);
  next_of(block, size_class * kStep) = lists[size_class];
  lists[size_class] = block;
}
void* pop(FreeLists& lists, size_t size_class) {
  void* const block = lists[size_class];
  lists[size_class] = next_of(block, size_class * kStep);
  mark_used(block, size_class * kStep);
  return block;
}

// The free blocks of threads that have ended. Slabs are never freed, since several threads may use blocks of
// one slab. Never destroyed: threads may end after main().
struct Leftovers {
  std::mutex mutex;
  FreeLists lists{};
};
Leftovers& leftovers() {
  static auto* const made = new Leftovers;
  return *made;
}

// Trivially destructible, so that objects that outlive the thread's other variables can still be freed.
thread_local FreeLists free_lists{};
thread_local size_t live = 0;  // bytes of slabs, and of blocks outside slabs
thread_local void (*check_growth)(size_t) = nullptr;
// Whether a destructor will give the thread's free blocks to other threads, or has done so.
enum class AtThreadEnd : uint8_t { unregistered, registered, done };
thread_local AtThreadEnd at_end = AtThreadEnd::unregistered;

void leave_blocks() {
  Leftovers& left = leftovers();
  const std::lock_guard lock(left.mutex);
  for (size_t size_class = 0; size_class < free_lists.size(); ++size_class)
    while (free_lists[size_class]) push(left.lists, size_class, pop(free_lists, size_class));
}

struct LeavesBlocks {
  ~LeavesBlocks() {
    leave_blocks();
    at_end = AtThreadEnd::done;
  }
};

// When the thread's lists have got blocks: they must not be lost with the thread. Destructors of the thread's
// other variables may free and allocate after it has ended.
[[gnu::noinline]] void leave_blocks_at_end() {
  if (at_end == AtThreadEnd::done) return leave_blocks();
  thread_local const LeavesBlocks destructor;
  at_end = AtThreadEnd::registered;
}

// Takes up to `most` blocks. Returns their number.
size_t take_leftovers(size_t size_class, size_t most) {
  Leftovers& left = leftovers();
  const std::lock_guard lock(left.mutex);
  size_t taken = 0;
  for (; left.lists[size_class] && taken < most; ++taken)
    push(free_lists, size_class, pop(left.lists, size_class));
  return taken;
}

[[gnu::noinline]] void refill(size_t size_class) {
  const size_t bytes = size_class * kStep, count = blocks_per_slab(bytes);
  if (check_growth) check_growth(count * bytes);
  if (const size_t taken = take_leftovers(size_class, count)) {
    live += taken * bytes;
    return;
  }
  char* const slab = static_cast<char*>(::operator new(count* bytes + kLink));
  live += count * bytes;
  for (size_t i = 0; i < count; ++i) push(free_lists, size_class, slab + i * bytes);
}

}  // namespace

#ifdef LUNAGRAD_CHECK_THREADS
const void* this_thread() noexcept { return &live; }

void fail_used_by_two_threads() noexcept {
  std::fputs("lunagrad: a second thread uses a tensor, which belongs to the thread that made it\n", stderr);
  std::abort();
}
#endif

void* pool_allocate(size_t bytes) {
  if (bytes > kLargest) {
    void* const block = ::operator new(bytes);
    live += bytes;
    return block;
  }
  const size_t size_class = class_of(bytes);
  if (!free_lists[size_class]) [[unlikely]] {
    refill(size_class);
    void* const block = pop(free_lists, size_class);
    if (at_end != AtThreadEnd::registered) leave_blocks_at_end();
    return block;
  }
  return pop(free_lists, size_class);
}

void pool_free(void* block, size_t bytes) noexcept {
  if (!block) return;
  if (bytes > kLargest) {
    live -= bytes;
    return ::operator delete(block);
  }
  push(free_lists, class_of(bytes), block);
  if (at_end != AtThreadEnd::registered) [[unlikely]]
    leave_blocks_at_end();
}

bool pool_must_grow(size_t bytes) { return bytes > kLargest || !free_lists[class_of(bytes)]; }
size_t pool_bytes() { return live; }
void check_pool_growth(void (*check)(size_t bytes)) { check_growth = check; }

}  // namespace lunagrad
