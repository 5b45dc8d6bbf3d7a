// Maps elements to unsigned integers in the same order. NaN is the largest; zeros of both signs are equal.
// The integers have 32 bits, for i64 64 bits.
uint order_of(float x) {
  if (lg_isnan(x)) return 0xffffffffu;
  const uint bits = x == 0.0 ? 0u : floatBitsToUint(x);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
uint64_t order_at(uint64_t address, int64_t i, uint type) {
  if (type == kI64) return uint64_t(load_integer(address, i, type)) ^ 0x8000000000000000UL;
  if (type >= kF16) return uint64_t(order_of(load_float(address, i, type)));
  return uint64_t(uint(int(load_integer(address, i, type))) ^ 0x80000000u);
}
// The same for the bits of an element of at most 32 bits; the result has as many bits as the element.
// kAbsent: unsigned integers.
uint order_of_bits(uint bits, uint type) {
  if (type == kF32) return order_of(uintBitsToFloat(bits));
  if (type == kI32) return bits ^ 0x80000000u;
  if (type != kF16 && type != kBF16) return bits;
  const uint magnitude = bits & 0x7fffu;
  if (magnitude > (type == kF16 ? 0x7c00u : 0x7f80u)) return 0xffffu;
  if (magnitude == 0) return 0x8000u;
  return (bits & 0x8000u) != 0 ? ~bits & 0xffffu : bits | 0x8000u;
}
