#pragma once
// Intrusive reference counting and pooled allocation for the small objects of the engine (tensors, nodes,
// layouts, storages). Counts are not atomic: a tensor belongs to the thread that made it, and threads pass
// each other bytes, not tensors. With atomic counts an op on four floats takes twice as long. Builds with
// LUNAGRAD_CHECK_THREADS (all but release builds) end the program when a second thread counts.
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace lunagrad {

#ifdef LUNAGRAD_CHECK_THREADS
const void* this_thread() noexcept;                     // differs between running threads
[[noreturn]] void fail_used_by_two_threads() noexcept;  // prints the fault on stderr and aborts
#endif

// Base class of objects that a Ref may point to. The last Ref calls T::destroy(T*).
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  uint32_t use_count() const { return count_; }

 private:
  template <class T>
  friend class Ref;
  void check_thread() const {
#ifdef LUNAGRAD_CHECK_THREADS
    if (owner_ != this_thread()) fail_used_by_two_threads();
#endif
  }

  mutable uint32_t count_ = 0;
#ifdef LUNAGRAD_CHECK_THREADS
  const void* owner_ = this_thread();
#endif
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) { retain(); }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (!object_) return;
    object_->check_thread();
    if (--object_->count_ == 0) T::destroy(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }

 private:
  void retain() {
    if (!object_) return;
    object_->check_thread();
    ++object_->count_;
  }
  T* object_ = nullptr;
};

// A free list per size and thread. A freed block goes to the list of the thread that frees it; the blocks of
// a thread that has ended go to other threads. Under AddressSanitizer each block is a heap block of its own,
// and free blocks are poisoned.
void* pool_allocate(size_t bytes);
void pool_free(void* block, size_t bytes) noexcept;
// Whether pool_allocate(bytes) would take more memory.
bool pool_must_grow(size_t bytes);
size_t pool_bytes();  // that the calling thread's pool has taken
// Has `check` called before the calling thread's pool takes so many bytes more: what it throws,
// pool_allocate() throws. Null: no check.
void check_pool_growth(void (*check)(size_t bytes));

// A base class whose new and delete use the pool.
template <class T>
struct Pooled {
  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, size_t bytes) noexcept { pool_free(block, bytes); }
};

}  // namespace lunagrad
