// Powers of two for numbers whose squares would leave the range of floats. A state stores a power as a level:
// numbers of the small level are multiplied by kUp, of the large level by kDown. Where two states are
// combined, the larger level counts: beside its numbers the squares of the other state vanish.
const uint kSmallLevel = 0, kPlainLevel = 1, kLargeLevel = 2;
const float kUp = 1.20892582e24, kDown = 8.07793567e-28;                  // 2^80, 2^-90
const float kBackFromUp = 8.27180613e-25, kBackFromDown = 1.23794004e27;  // 2^-80, 2^90
const float kSmallSize = 9.09494702e-13, kLargeSize = 3.5184372e13;       // 2^-40, 2^45
const float kLeastSquare = 8.07793567e-28;                                // 2^-90

uint level_of(float size) {
  return size < kSmallSize ? kSmallLevel : size <= kLargeSize ? kPlainLevel : kLargeLevel;
}
float factor_of(uint level) {
  return level == kSmallLevel ? kUp : level == kPlainLevel ? 1.0 : kDown;
}
// a b c, in this order. A compiler may begin with b c or a c, which may overflow or underflow although the
// whole product does not.
float product_in_order(float a, float b, float c) {
  precise const float first = a * b, both = first * c;
  return both;
}
vec4 product_in_order(vec4 a, float b, float c) {
  precise const vec4 first = a * b, both = first * c;
  return both;
}
vec4 product_in_order(vec4 a, float b, vec4 c) {
  precise const vec4 first = a * b, both = first * c;
  return both;
}
float times_square(float x, float factor) { return product_in_order(x, factor, factor); }
// The level at which x - mean is multiplied by r = 1 / deviation.
uint level_of_rstd(float r) {
  return r > 1.0 / kSmallSize ? kSmallLevel : r >= 1.0 / kLargeSize ? kPlainLevel : kLargeLevel;
}
// The factor that brings a number from the level `from` to a larger level.
float between_levels(uint from, uint to) {
  if (from == to) return 1.0;
  if (from == kPlainLevel) return kDown;
  return to == kPlainLevel ? kBackFromUp : 0.0;
}
// The factor that brings a result to the plain level.
float to_plain(uint level) {
  return level == kSmallLevel ? kBackFromUp : level == kPlainLevel ? 1.0 : kBackFromDown;
}
// x - shift at a level. The difference of large numbers may be infinite if it is not scaled first.
float at_level(float x, float shift, uint level) {
  const float factor = factor_of(level);
  return level == kLargeLevel ? x * factor - shift * factor : (x - shift) * factor;
}
vec4 at_level(vec4 x, float shift, uint level) {
  const float factor = factor_of(level);
  return level == kLargeLevel ? x * factor - shift * factor : (x - shift) * factor;
}
