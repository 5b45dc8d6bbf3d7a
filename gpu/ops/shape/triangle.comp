#version 460
// tril and triu: copies the elements on one side of a diagonal and sets the others to 0, bit for bit. A unit is an element, or
// 16 bytes of a row.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;  // an integer type of the same size as the elements
layout(constant_id = 1) const bool LOWER = true;
layout(constant_id = 2) const uint ELEMENTS = 1;  // elements of a unit

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, operand;
  int64_t diagonal;
  uint count, rows, columns;  // count, columns: in units
  Divisor by_rows, by_columns;
};

// Whether an element stays. `above`: the number of diagonals from the given one to the element's.
bool stays(int64_t above) {
  return LOWER ? above <= 0 : above >= 0;
}

void main() {
  const uint kBits = 128 / ELEMENTS;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint line = quotient(i, by_columns), column = (i - line * columns) * ELEMENTS;
    const uint row = line - quotient(line, by_rows) * rows;
    const int64_t above = int64_t(column) - int64_t(row) - diagonal;
    if (ELEMENTS == 1) {
      store_integer(result, int64_t(i), TYPE, stays(above) ? load_integer(operand, int64_t(i), TYPE) : 0L);
      continue;
    }
    uvec4 bytes = uvec4(0);
    if (stays(above) || stays(above + int64_t(ELEMENTS - 1))) {
      bytes = U32x4Elements(operand + int64_t(i) * 16).at;
      [[unroll]] for (uint k = 0; k < ELEMENTS; ++k) {
        if (stays(above + int64_t(k))) continue;
        const uint word = k * kBits / 32;
        if (kBits == 64)
          bytes[word] = bytes[word + 1] = 0;
        else
          bytes[word] &= ~((kBits == 32 ? 0xffffffffu : (1u << kBits % 32) - 1u) << k * kBits % 32);
      }
    }
    U32x4Elements(result + int64_t(i) * 16).at = bytes;
  }
}
