// Two elements become one, as in the CPU's kernels: a is the earlier element. NaN wins over every number, and of equal
// numbers the first one stays. Integers wrap around.
const uint kAdd = 2, kProduct = 3, kLargest = 4, kSmallest = 5;

float combine(uint how, float a, float b) {
  if (how == kAdd) return a + b;
  if (how == kProduct) return a * b;
  return (how == kLargest ? b > a : b < a) || lg_isnan(b) ? b : a;
}
vec4 combine(uint how, vec4 a, vec4 b) {
  if (how == kAdd) return a + b;
  if (how == kProduct) return a * b;
  return vec4(combine(how, a.x, b.x), combine(how, a.y, b.y), combine(how, a.z, b.z), combine(how, a.w, b.w));
}
int64_t combine(uint how, int64_t a, int64_t b) {
  if (how == kAdd) return a + b;
  if (how == kProduct) return a * b;
  return (how == kLargest ? b > a : b < a) ? b : a;
}

// The element that leaves every other one as it is.
float neutral_float(uint how) {
  if (how == kAdd) return 0.0;
  if (how == kProduct) return 1.0;
  return how == kLargest ? -infinity() : infinity();
}
int64_t neutral_integer(uint how) {
  if (how == kAdd) return 0L;
  if (how == kProduct) return 1L;
  return how == kLargest ? -9223372036854775807L - 1L : 9223372036854775807L;
}
