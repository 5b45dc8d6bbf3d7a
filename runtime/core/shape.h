#pragma once
// Sizes and strides of tensors: short lists stored inline, broadcasting, dimension arithmetic. Positions
// count from 0; in error texts they count from 1, as in scripts. Strides and offsets are in elements. Pure
// values.
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

#include "runtime/core/ref.h"

namespace lunagrad {

inline constexpr int kMaxDims = 8;

// Up to kMaxDims integers, stored inline.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) { assign(values.begin(), values.size()); }
  explicit Dims(std::span<const int64_t> values) { assign(values.data(), values.size()); }
  Dims(int count, int64_t value) : count_(uint8_t(count)) {
    for (int i = 0; i < count; ++i) values_[i] = value;
  }
  Dims(const Dims& other) { assign(other.values_, other.count_); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other.values_, other.count_);
    return *this;
  }

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int64_t operator[](int i) const {
    assert(i >= 0 && i < count_);
    return values_[i];
  }
  int64_t& operator[](int i) {
    assert(i >= 0 && i < count_);
    return values_[i];
  }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + count_; }
  int64_t back() const { return (*this)[count_ - 1]; }
  void push_back(int64_t value);       // Error past kMaxDims
  void insert(int at, int64_t value);  // Error past kMaxDims
  void erase(int at);
  bool operator==(const Dims& other) const;

 private:
  void assign(const int64_t* values, size_t count);
  int64_t values_[kMaxDims];
  uint8_t count_ = 0;
};

using Shape = Dims;
using Strides = Dims;

std::ostream& operator<<(std::ostream&, const Dims&);  // [2, 3]; [] for a scalar

// Number of elements; Error when the product does not fit 63 bits or a size is negative.
int64_t numel(const Shape&);
Strides contiguous_strides(const Shape&);
// The position of the element with this number, in the order of contiguous elements.
Dims position_of(int64_t element, const Shape&);
bool is_contiguous(const Shape&, const Strides&);
// Whether two positions may share an element: dims expanded with stride 0, or overlapping windows.
bool overlaps(const Shape&, const Strides&);

// The broadcast shape of two shapes. Error "op: shapes [2, 3] and [4] do not broadcast: …".
Shape broadcast_shapes(const char* op, const Shape&, const Shape&);
// Whether a tensor of shape `from` can be expanded to `to`.
bool broadcasts_to(const Shape& from, const Shape& to);
// The strides that expand a tensor of shape `from` to `to`: 0 in the dims that broadcasting repeats.
Strides broadcast_strides(const Shape& from, const Strides&, const Shape& to);

// A dim or position counted from 1 as in scripts, for error texts.
inline int64_t counted_from_1(int64_t dim) { return dim < 0 || dim == INT64_MAX ? dim : dim + 1; }
// Returns 0 … ndim-1 for dim in -ndim … ndim-1; Error otherwise. A scalar accepts 0 and -1.
int normalize_dim(const char* op, int64_t dim, const Shape&);
// The dims as a bit mask; an empty list means all. Error when a dim is repeated or out of range.
uint32_t dim_mask(const char* op, std::span<const int64_t> dims, const Shape&);

// Shape, strides and values derived from them. Immutable; tensors with the same layout share it.
class Layout final : public Counted, public Pooled<Layout> {
 public:
  Layout(const Shape&, const Strides&);
  static Ref<const Layout> contiguous(const Shape&);
  static void destroy(const Layout* layout) { delete layout; }

  Shape shape;
  Strides strides;
  int64_t numel;
  bool contiguous_;
};
using LayoutRef = Ref<const Layout>;

}  // namespace lunagrad
