#pragma once
// A vector that stores up to N elements inline, for the short lists of a call: operands, outputs, parameters.
// It moves to the heap when it grows beyond N. Elements must be nothrow movable. Pure value.
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace lunagrad {

template <class T, size_t N>
class Small {
 public:
  Small() = default;
  Small(std::initializer_list<T> values) : Small(std::span<const T>(values.begin(), values.size())) {}
  Small(const std::vector<T>& values) : Small(std::span<const T>(values)) {}
  explicit Small(std::span<const T> values) {
    reserve(values.size());
    for (const T& value : values) push_back(value);
  }
  Small(const Small& other) : Small(std::span<const T>(other.data(), other.size())) {}
  Small(Small&& other) noexcept { take(other); }
  Small& operator=(Small other) noexcept {
    clear();
    release();
    take(other);
    return *this;
  }
  ~Small() {
    clear();
    release();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_ : reinterpret_cast<T*>(inline_); }
  const T* data() const { return heap_ ? heap_ : reinterpret_cast<const T*>(inline_); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return data()[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return data()[i];
  }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) { emplace_back(std::move(value)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) reserve(capacity_ ? 2 * capacity_ : 4);
    return *new (data() + size_++) T(std::forward<Args>(args)...);
  }
  void pop_back() { data()[--size_].~T(); }
  void resize(size_t count) {
    reserve(count);
    while (size_ < count) emplace_back();
    while (size_ > count) pop_back();
  }
  void reserve(size_t count) {
    if (count <= capacity_) return;
    T* grown = static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))));
    std::uninitialized_move_n(data(), size_, grown);
    std::destroy_n(data(), size_);
    release();
    heap_ = grown;
    capacity_ = count;
  }
  void clear() {
    std::destroy_n(data(), size_);
    size_ = 0;
  }

 private:
  void release() {
    if (heap_) ::operator delete(heap_, std::align_val_t(alignof(T)));
    heap_ = nullptr;
    capacity_ = N;
  }
  void take(Small& other) {
    if (other.heap_) {
      heap_ = std::exchange(other.heap_, nullptr);
      capacity_ = std::exchange(other.capacity_, N);
      size_ = std::exchange(other.size_, 0);
    } else {
      std::uninitialized_move_n(other.data(), other.size_, data());
      size_ = other.size_;
      other.clear();
    }
  }

  alignas(T) std::byte inline_[N ? N * sizeof(T) : 1];
  T* heap_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace lunagrad
