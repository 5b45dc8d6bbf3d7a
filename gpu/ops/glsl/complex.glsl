// The functions of elementwise.def for complex numbers, as pairs of floats. The steps are the same as in
// runtime/ops/elementwise/cpu/complex.h, so that both devices have the same branch cuts, signed zeros and infinities.
// Quotients, absolute values, square roots and logarithms are scaled by powers of two, so that no
// intermediate value overflows or underflows unless the result does. To be included after functions.glsl.

// Numbers above kNear are divided by kFar, numbers below 1 / kNear multiplied by it. Then even the square of the smallest
// subnormal is a normal number.
const float kNear = 1.152921504606846976e18;      // 2^60
const float kFar = 1.267650600228229401e30;       // 2^100
const float kRootOfFar = 1.125899906842624e15;    // 2^50
const float kLogOfFar = 69.314718055994530942;

float by_size(float size, float small, float usual, float large) {
  return size > kNear ? large : size < 1.0 / kNear ? small : usual;
}
float scale_of(float size) {
  return by_size(size, kFar, 1.0, 1.0 / kFar);
}
float inverse_scale_of(float size) {
  return by_size(size, 1.0 / kFar, 1.0, kFar);
}
float largest_part(vec2 z) {
  return lg_max(abs(z.x), abs(z.y));
}
float copy_sign(float size, float sign) {
  return uintBitsToFloat((floatBitsToUint(size) & 0x7fffffffu) | (floatBitsToUint(sign) & 0x80000000u));
}

bool lg_isnan(vec2 z) {
  return lg_isnan(z.x) || lg_isnan(z.y);
}
bool lg_isinf(vec2 z) {
  return lg_isinf(z.x) || lg_isinf(z.y);
}
bool lg_isfinite(vec2 z) {
  return lg_isfinite(z.x) && lg_isfinite(z.y);
}
// Comparisons compare real parts.
bool lg_below(vec2 a, vec2 b) {
  return a.x < b.x;
}
bool lg_at_least(vec2 a, vec2 b) {
  return a.x >= b.x;
}

// All four products are rounded, so that z conj(z) is real.
vec2 lg_product(vec2 a, vec2 b) {
  precise const float re = a.x * b.x - a.y * b.y;
  precise const float im = a.x * b.y + a.y * b.x;
  return vec2(re, im);
}
vec2 lg_square(vec2 z) {
  return lg_product(z, z);
}
vec2 lg_conj(vec2 z) {
  return vec2(z.x, -z.y);
}

// With p the larger part of b, q the smaller one and r = q / p, the denominator is p + q r (Smith, "Algorithm
// 116: Complex division", 1962). Division by zero gives infinities, division by an infinity gives zeros.
vec2 lg_quotient(vec2 a, vec2 b) {
  const float a_size = largest_part(a), b_size = largest_part(b);
  const bool real_is_larger = abs(b.x) >= abs(b.y), nothing = b == vec2(0);
  const float p = (real_is_larger ? b.x : b.y) * scale_of(b_size);
  const float q = (real_is_larger ? b.y : b.x) * scale_of(b_size);
  const float ratio = lg_isinf(q) ? lg_sign(p) * lg_sign(q) : nothing ? 0.0 : lg_quotient(q, p);
  const float below = nothing ? 0.0 : p + q * ratio;
  const vec2 top = a * scale_of(a_size);
  const vec2 above = real_is_larger ? vec2(top.x + top.y * ratio, top.y - top.x * ratio)
                                    : vec2(top.x * ratio + top.y, top.y * ratio - top.x);
  // Multiplied in two steps: the product of both scales could overflow.
  const float half_of_scales =
      by_size(b_size, kRootOfFar, 1.0, 1.0 / kRootOfFar) * by_size(a_size, 1.0 / kRootOfFar, 1.0, kRootOfFar);
  return vec2(lg_quotient(above.x, below), lg_quotient(above.y, below)) * half_of_scales * half_of_scales;
}

// |z|. Infinite if a part is infinite, even if the other is NaN.
float magnitude(vec2 z) {
  const float size = largest_part(z);
  const vec2 scaled = z * scale_of(size);
  return lg_isinf(z) ? infinity() : sqrt(scaled.x * scaled.x + scaled.y * scaled.y) * inverse_scale_of(size);
}
vec2 lg_abs(vec2 z) {
  return vec2(magnitude(z), 0.0);
}

// sqrt(z) = t + i y / 2t with t = sqrt((|x| + |z|) / 2), turned into the right half plane (Kahan, "Branch cuts for
// complex elementary functions", 1987).
vec2 lg_sqrt(vec2 z) {
  if (lg_isinf(z.y)) return vec2(infinity(), z.y);
  const float size = largest_part(z);
  const vec2 scaled = z * scale_of(size);
  const float back = by_size(size, 1.0 / kRootOfFar, 1.0, kRootOfFar);
  const float t = sqrt((abs(scaled.x) + magnitude(scaled)) * 0.5);
  const float other = t == 0.0 ? 0.0 : lg_quotient(abs(scaled.y) * 0.5, t) * back, root = t * back;
  const bool left = z.x < 0.0;
  return vec2(left ? other : root, copy_sign(left ? root : other, z.y));
}

// f s, or s itself if s is 0 (the sine of 0), even if f is infinite or NaN.
float unless_zero(float f, float s) {
  return s == 0.0 ? s : f * s;
}

// e^x (cos y + i sin y). A large e^x is split into two factors, since it alone could overflow.
vec2 lg_exp(vec2 z) {
  const bool large = z.x > 80.0;
  const float e = lg_exp(large ? z.x - 60.0 : z.x), rest = large ? 1.1420073898156842837e26 : 1.0;
  if (e == 0.0 && !lg_isfinite(z.y)) return vec2(0);
  return vec2(e * lg_cos(z.y), unless_zero(e, lg_sin(z.y))) * rest;
}

// log|z| + i arg z. Near the unit circle, with x the larger part, 2 log|z| = log1p((x - 1)(x + 1) + y^2).
vec2 lg_log(vec2 z) {
  const float x = largest_part(z), y = lg_min(abs(z.x), abs(z.y));
  const float size = x > 0.5 && x < 2.0 ? 0.5 * lg_log1p((x - 1.0) * (x + 1.0) + y * y)
                                        : lg_log(magnitude(z * scale_of(x))) + by_size(x, -kLogOfFar, 0.0, kLogOfFar);
  return vec2(size, lg_atan2(z.y, z.x));
}
vec2 lg_log2(vec2 z) {
  return lg_log(z) * 1.4426950408889634074;
}
vec2 lg_log10(vec2 z) {
  return lg_log(z) * 0.43429448190325182765;
}

// e^(b log a); 0^0 is 1.
vec2 lg_pow(vec2 a, vec2 b) {
  if (b == vec2(0)) {
    if (a == vec2(0)) return vec2(1, 0);
  } else if (a == vec2(0) && b.x > 0.0) {
    return vec2(0);
  }
  return b == vec2(2, 0) ? lg_product(a, a) : lg_exp(lg_product(b, lg_log(a)));
}

vec2 lg_sinh(vec2 z) {
  return vec2(unless_zero(lg_cos(z.y), lg_sinh(z.x)), unless_zero(lg_cosh(z.x), lg_sin(z.y)));
}
vec2 lg_cosh(vec2 z) {
  return vec2(lg_cosh(z.x) * lg_cos(z.y), unless_zero(lg_sinh(z.x), lg_sin(z.y)));
}
// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); far from the imaginary axis ±1 + 4 i sin y cos y e^-2|x|.
vec2 lg_tanh(vec2 z) {
  const float cos_y = lg_cos(z.y), crossed = lg_sin(z.y) * cos_y;
  if (abs(z.x) > 10.0) return vec2(copy_sign(1.0, z.x), crossed * 4.0 * lg_exp(-2.0 * abs(z.x)));
  const float sinh_x = lg_sinh(z.x), below = sinh_x * sinh_x + cos_y * cos_y;
  return vec2(lg_quotient(sinh_x * lg_cosh(z.x), below), lg_quotient(crossed, below));
}
// sin z = -i sinh iz, cos z = cosh iz, tan z = -i tanh iz.
vec2 times_i(vec2 z) {
  return vec2(-z.y, z.x);
}
vec2 over_i(vec2 z) {
  return vec2(z.y, -z.x);
}
vec2 lg_sin(vec2 z) {
  return over_i(lg_sinh(times_i(z)));
}
vec2 lg_cos(vec2 z) {
  return lg_cosh(times_i(z));
}
vec2 lg_tan(vec2 z) {
  return over_i(lg_tanh(times_i(z)));
}

// 1 / (1 + e^-z), or e^z / (1 + e^z) left of the imaginary axis.
vec2 lg_sigmoid(vec2 z) {
  const bool left = z.x < 0.0;
  const vec2 e = lg_exp(left ? z : -z);
  return lg_quotient(left ? e : vec2(1, 0), vec2(1, 0) + e);
}
