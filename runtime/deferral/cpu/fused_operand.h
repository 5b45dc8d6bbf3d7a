#pragma once
// How the members of a group read their operands, a stretch at a time. Belongs to one kernel.
#include <cstdint>

#include "runtime/core/tensor.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

namespace lunagrad {

inline constexpr int64_t kLargestItem = 16;  // bytes of an element

// The loops over an operand whose elements are not in the order of the result: sizes and strides in bytes,
// outermost first, adjacent dims merged.
struct Walk {
  int dims = 0;
  int64_t size[kMaxDims], stride[kMaxDims];

  Walk() = default;
  Walk(const Tensor& x, const Shape& result);
};

struct FusedOperand {
  enum class Kind : uint8_t {
    absent,
    single,  // one element
    member,  // the elements of a member's result, in order
    row,     // one element of a member's result for each row of the group
    direct,  // the elements of a tensor, in order
    walked   // the elements of a tensor, in another order or repeated
  } kind = Kind::absent;
  int from = -1;  // for kind member
  const char* data = nullptr;
  int64_t item = 0;             // bytes of an element in memory, or of the member's result
  BlockCopy convert = nullptr;  // to the type that the kernel computes in
  bool as_is = false;           // the kernel reads the elements without a conversion
  Walk walk;
  alignas(16) char value[kLargestItem];  // for kind single: converted
};

// The operand x of a member that computes elements of type `wanted` in the order of `result`. `from`: the
// member whose result x is, or -1; `by_row`: each element belongs to a row of the group.
FusedOperand fused_operand(const Tensor& x, int from, bool by_row, DType wanted, bool as_is,
                           const Tensor& result);

// Converts `count` elements of a contiguous operand, of `item` bytes each.
void convert_elements(const FusedOperand&, int64_t item, const char* from, int64_t count, char* out);
// Converts one element for each row, and repeats it.
void repeat_elements(const FusedOperand&, int64_t item, const char* from, int64_t rows, int64_t count,
                     char* out);
// Elements [begin, begin + count) of a walked operand, converted.
void gather_elements(const FusedOperand&, int64_t item, int64_t begin, int64_t count, char* out);
// The address of elements [begin, begin + count) of a walked operand, if they need no conversion and follow
// one another (step 1) or are one element (step 0). Null: use gather_elements().
const char* find_stretch(const FusedOperand&, int64_t begin, int64_t count, int64_t& step);

}  // namespace lunagrad
