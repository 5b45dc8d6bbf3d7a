#pragma once
// Handles of the C library. A handle is a number in a pointer: the place of a slot, and the slot's word,
// which has the kind and counts the slot's uses. Looking it up compares the words, so a value that is no
// handle, or no longer, is found without reading through it. Slots are parts of chunks, which belong to one
// engine at a time and are never freed: any thread may look up any value. Only the thread of a slot's engine
// makes, reads or releases its object.
#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "capi/wall.h"
#include "runtime/core/tensor.h"

namespace lunagrad::capi {

struct Engine;

enum class Kind : uint32_t { none, engine, tensor, text, op, value, session };
const char* kind_name(Kind);

// A number that no other thread has had.
inline uint64_t this_thread() noexcept;

// What the handle of a value or a session owns.
struct Owned {
  virtual ~Owned() = default;
};

struct HandleSlot {
  std::atomic<uint32_t> word{0};  // 16 * uses + kind
  uint32_t place = 0;
  std::atomic<uint64_t> thread{0};
  Engine* engine = nullptr;
  union {
    Tensor tensor;
    std::string* text;
    Owned* owned;
    HandleSlot* next;  // of a free slot
  };
  HandleSlot() : next(nullptr) {}
  ~HandleSlot() {}
};

// The slot of a handle. LG_INVALID_HANDLE or LG_WRONG_THREAD otherwise.
inline HandleSlot& slot_of(const void* handle, Kind kind);
// The slot of a handle, for any thread: the caller keeps its owner from releasing it. LG_INVALID_HANDLE.
inline HandleSlot& any_thread_slot(const void* handle, Kind kind);

inline void* handle_of(const HandleSlot& slot) {
  return reinterpret_cast<void*>(uintptr_t(slot.word.load(std::memory_order_relaxed)) << 32 | slot.place);
}

// The slots of one engine. For the engine's thread.
class Slots {
 public:
  explicit Slots(Engine* engine) : engine_(engine) {}
  ~Slots() { release_all(); }
  Slots(const Slots&) = delete;

  // Makes sure that `count` slots are free: bad_alloc otherwise.
  void reserve(size_t count) {
    if (free_count_ < count) [[unlikely]]
      grow(count);
  }
  // Both need a free slot.
  lg_tensor* add(Tensor tensor) noexcept {
    HandleSlot& slot = take(Kind::tensor);
    new (&slot.tensor) Tensor(std::move(tensor));
    ++tensors;
    return static_cast<lg_tensor*>(handle_of(slot));
  }
  lg_text* add(std::string* owned) noexcept {
    HandleSlot& slot = take(Kind::text);
    slot.text = owned;
    ++texts;
    return static_cast<lg_text*>(handle_of(slot));
  }
  lg_value* add_value(Owned* owned) noexcept {
    ++values;
    return static_cast<lg_value*>(add_owned(Kind::value, owned));
  }
  lg_session* add_session(Owned* owned) noexcept {
    ++sessions;
    return static_cast<lg_session*>(add_owned(Kind::session, owned));
  }
  lg_engine* add_engine() noexcept { return static_cast<lg_engine*>(handle_of(take(Kind::engine))); }
  void release(HandleSlot&) noexcept;
  void release_all() noexcept;
  // The slot of any session that is open; null: none is.
  HandleSlot* find_session() noexcept;

  size_t tensors = 0, texts = 0, values = 0, sessions = 0;  // handles

 private:
  void grow(size_t count);
  HandleSlot& take(Kind kind) noexcept {
    HandleSlot& slot = *free_;
    free_ = slot.next;
    --free_count_;
    const uint32_t uses = slot.word.load(std::memory_order_relaxed) & ~15u;
    slot.word.store(uses | uint32_t(kind), std::memory_order_relaxed);
    return slot;
  }
  void* add_owned(Kind kind, Owned* owned) noexcept {
    HandleSlot& slot = take(kind);
    slot.owned = owned;
    return handle_of(slot);
  }
  void put_back(HandleSlot&) noexcept;

  Engine* const engine_;
  HandleSlot* free_ = nullptr;
  size_t free_count_ = 0;
  uint32_t first_chunk_ = UINT32_MAX;  // the chunks are a list
};

// From here on: what the inline functions need.

constexpr size_t kChunk = 256;  // slots
constexpr size_t kMostChunks = size_t(1) << 16;
extern std::atomic<HandleSlot*> chunks[kMostChunks];
extern constinit thread_local uint64_t thread_number;
uint64_t number_thread() noexcept;
[[noreturn]] void refuse_handle(const void* handle, Kind kind);
[[noreturn]] void refuse_thread(Kind kind);

inline uint64_t this_thread() noexcept {
  const uint64_t number = thread_number;
  return number ? number : number_thread();
}

inline HandleSlot& any_thread_slot(const void* handle, Kind kind) {
  const auto bits = reinterpret_cast<uintptr_t>(handle);
  const auto word = uint32_t(bits >> 32);
  const size_t place = uint32_t(bits);
  if (Kind(word & 15) != kind || place >= kChunk * kMostChunks) [[unlikely]]
    refuse_handle(handle, kind);
  HandleSlot* const chunk = chunks[place / kChunk].load(std::memory_order_acquire);
  if (!chunk || chunk[place % kChunk].word.load(std::memory_order_relaxed) != word) [[unlikely]]
    refuse_handle(handle, kind);
  return chunk[place % kChunk];
}

inline HandleSlot& slot_of(const void* handle, Kind kind) {
  HandleSlot& slot = any_thread_slot(handle, kind);
  if (slot.thread.load(std::memory_order_relaxed) != this_thread()) [[unlikely]]
    refuse_thread(kind);
  return slot;
}

}  // namespace lunagrad::capi
