#include "runtime/core/shape.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/core/error.h"

namespace lunagrad {

void Dims::assign(const int64_t* values, size_t count) {
  if (count > size_t(kMaxDims)) fail("a tensor has at most ", kMaxDims, " dims (got ", count, ")");
  std::copy_n(values, count, values_);
  count_ = uint8_t(count);
}

void Dims::push_back(int64_t value) { insert(count_, value); }

void Dims::insert(int at, int64_t value) {
  if (count_ == kMaxDims) fail("a tensor has at most ", kMaxDims, " dims");
  assert(at >= 0 && at <= count_);
  std::copy_backward(values_ + at, values_ + count_, values_ + count_ + 1);
  values_[at] = value;
  ++count_;
}

void Dims::erase(int at) {
  assert(at >= 0 && at < count_);
  std::copy(values_ + at + 1, values_ + count_, values_ + at);
  --count_;
}

bool Dims::operator==(const Dims& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) {
  out << '[';
  for (int i = 0; i < dims.size(); ++i) out << (i ? ", " : "") << dims[i];
  return out << ']';
}

int64_t numel(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0) fail("a size must not be negative (got shape ", shape, ")");
    if (__builtin_mul_overflow(count, size, &count))
      fail("shape ", shape, " has more elements than can be counted");
  }
  return count;
}

// A product that wraps around, as it does for shapes that fit no memory; numel() refuses these shapes.
static int64_t wrapped_product(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

Strides contiguous_strides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (int i = shape.size() - 2; i >= 0; --i)
    strides[i] = wrapped_product(strides[i + 1], std::max<int64_t>(shape[i + 1], 1));
  return strides;
}

Dims position_of(int64_t element, const Shape& shape) {
  Dims at(shape.size(), 0);
  for (int d = shape.size() - 1; d >= 0; --d) {
    at[d] = element % shape[d];
    element /= shape[d];
  }
  return at;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  int64_t expected = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected = wrapped_product(expected, shape[i]);
  }
  return true;
}

// Without overlap each stride, in ascending order, is larger than the span of all smaller ones.
bool overlaps(const Shape& shape, const Strides& strides) {
  int order[kMaxDims], count = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return false;
    if (shape[d] == 1) continue;
    int at = count++;
    for (; at > 0 && std::abs(strides[order[at - 1]]) > std::abs(strides[d]); --at) order[at] = order[at - 1];
    order[at] = d;
  }
  int64_t span = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t stride = std::abs(strides[order[i]]);
    if (stride <= span) return true;
    span += (shape[order[i]] - 1) * stride;
  }
  return false;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  const int shift = to.size() - from.size();
  if (shift < 0) return false;
  for (int i = 0; i < from.size(); ++i)
    if (from[i] != 1 && from[i] != to[i + shift]) return false;
  return true;
}

Strides broadcast_strides(const Shape& from, const Strides& strides, const Shape& to) {
  Strides result(to.size(), 0);
  const int shift = to.size() - from.size();
  for (int i = 0; i < from.size(); ++i) result[i + shift] = from[i] == 1 ? 0 : strides[i];
  return result;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  const int shift = longer.size() - shorter.size();
  Shape result = longer;
  for (int i = 0; i < shorter.size(); ++i) {
    const int64_t x = longer[i + shift], y = shorter[i];
    if (x != y && x != 1 && y != 1)
      fail(op, ": shapes ", a, " and ", b, " do not broadcast: dim ", i - shorter.size(), " has sizes ",
           a[a.size() - shorter.size() + i], " and ", b[b.size() - shorter.size() + i]);
    result[i + shift] = x == 1 ? y : x;
  }
  return result;
}

int normalize_dim(const char* op, int64_t dim, const Shape& shape) {
  const int n = std::max(shape.size(), 1);
  const int64_t wrapped = dim < 0 ? dim + n : dim;
  if (wrapped < 0 || wrapped >= n)
    fail(op, ": dim ", counted_from_1(dim), " is out of range for shape ", shape, " (dims are 1 to ", n,
         " or -1 to -", n, ")");
  return int(wrapped);
}

uint32_t dim_mask(const char* op, std::span<const int64_t> dims, const Shape& shape) {
  if (dims.empty()) return (1u << std::max(shape.size(), 1)) - 1;
  uint32_t mask = 0;
  for (int64_t dim : dims) {
    const uint32_t bit = 1u << normalize_dim(op, dim, shape);
    if (mask & bit)
      fail(op, ": dim ", dim < 0 ? dim : dim + 1, " appears more than once in the list of dims");
    mask |= bit;
  }
  return mask;
}

Layout::Layout(const Shape& shape_in, const Strides& strides_in)
    : shape(shape_in),
      strides(strides_in),
      numel(lunagrad::numel(shape_in)),
      contiguous_(is_contiguous(shape_in, strides_in)) {}

LayoutRef Layout::contiguous(const Shape& shape) {
  return LayoutRef(new Layout(shape, contiguous_strides(shape)));
}

}  // namespace lunagrad
