#include "runtime/deferral/cpu/fused_operand.h"

#include <algorithm>
#include <complex>

namespace lunagrad {
namespace {

// A position in a walk.
struct Place {
  int64_t index[kMaxDims];
  const char* at;

  Place(const FusedOperand& x, int64_t element) : at(x.data) {
    for (int d = x.walk.dims - 1; d >= 0; --d) {
      index[d] = element % x.walk.size[d];
      element /= x.walk.size[d];
      at += index[d] * x.walk.stride[d];
    }
  }
};

// Fills each row with its value.
template <class T>
void fill_rows(const char* values, int64_t rows, int64_t count, char* out) {
  for (int64_t row = 0; row < rows; ++row)
    std::fill_n(reinterpret_cast<T*>(out) + row * count, count, reinterpret_cast<const T*>(values)[row]);
}

}  // namespace

Walk::Walk(const Tensor& x, const Shape& result) {
  const int64_t item = int64_t(item_size(x.dtype()));
  for (int d = 0; d < result.size(); ++d) {
    if (result[d] == 1) continue;
    const int own = d - result.size() + x.ndim();
    const int64_t step = own >= 0 && x.shape()[own] != 1 ? x.strides()[own] * item : 0;
    if (dims && stride[dims - 1] == result[d] * step) {
      size[dims - 1] *= result[d];
      stride[dims - 1] = step;
    } else {
      size[dims] = result[d];
      stride[dims++] = step;
    }
  }
}

FusedOperand fused_operand(const Tensor& x, int from, bool by_row, DType wanted, bool as_is,
                           const Tensor& result) {
  using Kind = FusedOperand::Kind;
  FusedOperand operand;
  if (!x.defined()) return operand;
  operand.item = int64_t(item_size(x.dtype()));
  operand.as_is = as_is;
  operand.convert = block_copy(wanted, x.dtype());
  if (from >= 0) {
    operand.kind = by_row ? Kind::row : Kind::member;
    operand.from = from;
    return operand;
  }
  operand.data = static_cast<const char*>(x.raw());
  if (x.numel() == 1 && result.numel() != 1) {
    operand.kind = Kind::single;
    operand.convert(operand.value, 0, 0, operand.data, 0, 0, 1, 1);
  } else if (x.numel() == result.numel() && x.is_contiguous()) {
    operand.kind = Kind::direct;
  } else {
    operand.kind = Kind::walked;
    operand.walk = Walk(x, result.shape());
  }
  return operand;
}

void convert_elements(const FusedOperand& x, int64_t item, const char* from, int64_t count, char* out) {
  x.convert(out, item * count, item, from, x.item * count, x.item, 1, count);
}

void repeat_elements(const FusedOperand& x, int64_t item, const char* from, int64_t rows, int64_t count,
                     char* out) {
  constexpr int64_t kTogether = 64;
  alignas(16) char values[kTogether * kLargestItem];
  for (int64_t row = 0; row < rows; row += kTogether) {
    const int64_t some = std::min(kTogether, rows - row);
    x.convert(values, item * some, item, from + row * x.item, x.item * some, x.item, 1, some);
    char* const to = out + row * count * item;
    switch (item) {
      case 1:
        fill_rows<uint8_t>(values, some, count, to);
        break;
      case 2:
        fill_rows<uint16_t>(values, some, count, to);
        break;
      case 4:
        fill_rows<uint32_t>(values, some, count, to);
        break;
      case 8:
        fill_rows<uint64_t>(values, some, count, to);
        break;
      default:
        fill_rows<std::complex<double>>(values, some, count, to);
    }
  }
}

void gather_elements(const FusedOperand& x, int64_t item, int64_t begin, int64_t count, char* out) {
  const Walk& walk = x.walk;
  const int last = walk.dims - 1;
  Place place(x, begin);
  while (count > 0) {
    const int64_t left = walk.size[last] - place.index[last];
    int64_t rows = 1, part = std::min(count, left);  // rows of the last dim, elements of each
    if (last > 0 && place.index[last] == 0 && part == left)
      rows = std::min(count / part, walk.size[last - 1] - place.index[last - 1]);
    x.convert(out, item * part, item, place.at, last > 0 ? walk.stride[last - 1] : 0, walk.stride[last], rows,
              part);
    out += rows * part * item;
    count -= rows * part;
    place.at += part * walk.stride[last];
    place.index[last] += part;
    for (int d = last; d > 0 && place.index[d] == walk.size[d]; --d) {
      const int64_t passed = d == last ? rows : 1;
      place.at += passed * walk.stride[d - 1] - walk.size[d] * walk.stride[d];
      place.index[d] = 0;
      place.index[d - 1] += passed;
    }
  }
}

const char* find_stretch(const FusedOperand& x, int64_t begin, int64_t count, int64_t& step) {
  const int last = x.walk.dims - 1;
  const int64_t stride = x.walk.stride[last];
  if (!x.as_is || (stride != 0 && stride != x.item)) return nullptr;
  const Place place(x, begin);
  if (place.index[last] + count > x.walk.size[last]) return nullptr;
  step = stride != 0;
  return place.at;
}

}  // namespace lunagrad
