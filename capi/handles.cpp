#include "capi/handles.h"

#include <mutex>

namespace lunagrad::capi {

constinit std::atomic<HandleSlot*> chunks[kMostChunks] = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t thread_number = 0;

namespace {

static_assert(sizeof(void*) == 8, "a handle has 64 bits");

// Chunks of all engines. next[i] is the next chunk in the list of chunk i: free, or of one engine.
struct Chunks {
  std::mutex mutex;
  uint32_t made = 0;
  uint32_t free = UINT32_MAX;
  uint32_t next[kMostChunks];
};
Chunks& all() {
  static Chunks instance;
  return instance;
}

// A chunk that no engine has. bad_alloc when there is none.
uint32_t take_chunk() {
  Chunks& list = all();
  const std::lock_guard lock(list.mutex);
  if (list.free != UINT32_MAX) {
    const uint32_t chunk = list.free;
    list.free = list.next[chunk];
    return chunk;
  }
  if (list.made == kMostChunks) throw std::bad_alloc();
  HandleSlot* const slots = new HandleSlot[kChunk];
  for (size_t i = 0; i < kChunk; ++i) slots[i].place = uint32_t(list.made * kChunk + i);
  chunks[list.made].store(slots, std::memory_order_release);
  return list.made++;
}

}  // namespace

uint64_t number_thread() noexcept {
  static std::atomic<uint64_t> last{0};
  return thread_number = ++last;
}

const char* kind_name(Kind kind) {
  static constexpr const char* kNames[] = {"handle", "lg_engine", "lg_tensor", "lg_text",
                                           "lg_op",  "lg_value",  "lg_session"};
  return size_t(kind) < std::size(kNames) ? kNames[size_t(kind)] : "handle";
}

void refuse_handle(const void* handle, Kind kind) {
  const auto is = Kind(reinterpret_cast<uintptr_t>(handle) >> 32 & 15);
  if (!handle) refuse(LG_INVALID_HANDLE, "an ", kind_name(kind), " is expected, and the handle is null");
  if (is != kind && is != Kind::none && is <= Kind::session)
    refuse(LG_INVALID_HANDLE, "an ", kind_name(kind), " is expected, and the handle is an ", kind_name(is));
  refuse(LG_INVALID_HANDLE, "an ", kind_name(kind), " is expected, and the handle is released or no handle");
}

void refuse_thread(Kind kind) {
  refuse(LG_WRONG_THREAD, "the ", kind_name(kind), " belongs to another thread");
}

void Slots::grow(size_t count) {
  while (free_count_ < count) {
    const uint32_t chunk = take_chunk();
    all().next[chunk] = first_chunk_;
    first_chunk_ = chunk;
    HandleSlot* const slots = chunks[chunk].load(std::memory_order_relaxed);
    for (size_t i = kChunk; i-- > 0;) {
      slots[i].engine = engine_;
      slots[i].thread.store(this_thread(), std::memory_order_relaxed);
      slots[i].next = free_;
      free_ = &slots[i];
    }
    free_count_ += kChunk;
  }
}

// The kind becomes none first: the object's destructor may call the host, which may try the handle.
void Slots::put_back(HandleSlot& slot) noexcept {
  slot.next = free_;
  free_ = &slot;
  ++free_count_;
}

void Slots::release(HandleSlot& slot) noexcept {
  const uint32_t word = slot.word.load(std::memory_order_relaxed);
  slot.word.store((word & ~15u) + 16, std::memory_order_relaxed);
  if (Kind(word & 15) == Kind::tensor) {
    --tensors;
    slot.tensor.~Tensor();
  } else if (Kind(word & 15) == Kind::text) {
    --texts;
    delete slot.text;
  } else if (Kind(word & 15) == Kind::value) {
    --values;
    delete slot.owned;
  } else if (Kind(word & 15) == Kind::session) {
    --sessions;
    delete slot.owned;
  }
  put_back(slot);
}

HandleSlot* Slots::find_session() noexcept {
  for (uint32_t chunk = sessions ? first_chunk_ : UINT32_MAX; chunk != UINT32_MAX;
       chunk = all().next[chunk]) {
    HandleSlot* const slots = chunks[chunk].load(std::memory_order_relaxed);
    for (size_t i = 0; i < kChunk; ++i)
      if (Kind(slots[i].word.load(std::memory_order_relaxed) & 15) == Kind::session) return &slots[i];
  }
  return nullptr;
}

void Slots::release_all() noexcept {
  for (uint32_t chunk = first_chunk_; chunk != UINT32_MAX;) {
    HandleSlot* const slots = chunks[chunk].load(std::memory_order_relaxed);
    for (size_t i = 0; i < kChunk; ++i)
      if (slots[i].word.load(std::memory_order_relaxed) & 15) release(slots[i]);
    chunk = all().next[chunk];
  }
  Chunks& list = all();
  const std::lock_guard lock(list.mutex);
  while (first_chunk_ != UINT32_MAX) {
    const uint32_t chunk = first_chunk_;
    first_chunk_ = list.next[chunk];
    list.next[chunk] = list.free;
    list.free = chunk;
  }
  free_ = nullptr;
  free_count_ = 0;
}

}  // namespace lunagrad::capi
