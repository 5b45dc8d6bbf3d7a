// Matrices of f32 as f16 for matrix units: scaled by the power of two that brings the largest finite magnitude of the matrix
// into [2^14, 2^15). Elements down to 2^-28 of the largest keep the 11 bits of f16; smaller ones have an absolute error of at
// most 2^-40 of the largest.

// The exponent of the scale, for the largest magnitude at that address: from -113 to 126.
int scale_exponent(uint64_t largest) {
  const int exponent = int(floatBitsToUint(F32Element(largest).at) >> 23) - 127;
  return min(14 - exponent, 126);
}
float scale_for(uint64_t largest) {
  return uintBitsToFloat(uint(127 + scale_exponent(largest)) << 23);
}
// Two factors that undo the scales of both operands of a product, applied one after the other. Each is half
// of the power of two, so that the value between them overflows or underflows only if the result does.
vec2 factors_of_unscaling(uint64_t a_largest, uint64_t b_largest) {
  const int exponent = -scale_exponent(a_largest) - scale_exponent(b_largest), half_of_it = exponent / 2;
  return vec2(uintBitsToFloat(uint(127 + half_of_it) << 23), uintBitsToFloat(uint(127 + exponent - half_of_it) << 23));
}
