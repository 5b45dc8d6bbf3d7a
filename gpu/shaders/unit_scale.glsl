// Matrices of f32 as f16 for matrix units: scaled by the power of two that brings the largest finite magnitude of the matrix
// into [2^14, 2^15). Elements down to 2^-28 of the largest keep the 11 bits of f16; smaller ones have an absolute error of at
// most 2^-40 of the largest.

// The exponent of the scale, for a largest magnitude at that address. The scale and its reciprocal are normal numbers.
int scale_exponent(uint64_t largest) {
  const int exponent = int(floatBitsToUint(F32Element(largest).at) >> 23) - 127;
  return min(14 - exponent, 126);
}
float scale_for(uint64_t largest) {
  return uintBitsToFloat(uint(127 + scale_exponent(largest)) << 23);
}
float reciprocal_of_scale(uint64_t largest) {
  return uintBitsToFloat(uint(127 - scale_exponent(largest)) << 23);
}
