#pragma once
// A group of calls, as far as the text of its shader depends on it. Pure values.
#include <vector>

#include "runtime/core/row_reduction.h"
#include "runtime/elementwise/elementwise.h"

namespace lunagrad::gpu {

// An operand, as far as the shader's text depends on it.
struct FusedOperand {
  enum class Kind : uint8_t {
    absent,
    number,   // arguments.number[index]
    single,   // the first element of arguments.address[index]
    direct,   // the elements of arguments.address[index] in order
    strided,  // arguments.address[index] with the strides arguments.stride[walk]
    row,      // one element of arguments.address[index] for each row
    column,   // one element of arguments.address[index] for each column
    member    // the result of member `index`
  } kind = Kind::absent;
  uint8_t index = 0;
  uint8_t walk = 0;
  DType type = DType::f32;  // the type in memory
  bool operator==(const FusedOperand&) const = default;
};

struct FusedMember {
  ElementwiseUse use;  // row -1: a cast
  DType result = DType::f32;
  uint8_t first_param = 0;  // index in arguments.number
  int8_t store = -1;        // index of the address that gets the result; -1: none
  FusedOperand operands[5];
  // For a group in rows; see RowGroup. The value of a reduction is multiplied by the number `first_param`.
  RowReduction::Kind reduction = RowReduction::Kind::none;
  bool row = false, outlasts = false;
  uint8_t stage = 0;
};

struct FusedShape {
  std::vector<FusedMember> members;
  uint8_t addresses = 0, numbers = 0, walks = 0, dims = 0;
  bool vector = false;  // four elements of each direct operand are loaded together
  // For a group in rows: invocations per row, and how many elements or vectors of the row each takes.
  uint32_t along = 0, turns = 0;
};

// Whether four elements of the type are loaded together.
constexpr bool comes_in_fours(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

}  // namespace lunagrad::gpu
