// The functions of runtime/elementwise/special.h, with the same tables, and lgamma and erfc, for floats.

const float kI0Near[18] = float[](
    3.383976372e-1, -3.046826723e-1, 1.716209015e-1, -9.490109705e-2, 4.930528424e-2, -2.373741481e-2,
    1.054646039e-2, -4.324309995e-3, 1.639475617e-3, -5.763755745e-4, 1.885028851e-4, -5.75419501e-5,
    1.644844807e-5, -4.416738358e-6, 1.117387539e-6, -2.670793854e-7, 6.046995023e-8, -1.30002501e-8);
const float kI0Far[6] = float[](
    4.022452055e-1, 3.369116478e-3, 6.889758347e-5, 2.891370521e-6, 2.048918589e-7, 2.26666899e-8);
const float kI1Near[17] = float[](
    1.262935932e-1, -1.764165184e-1, 1.026436587e-1, -5.294598121e-2, 2.472644903e-2, -1.056408489e-2,
    4.156422944e-3, -1.513572451e-3, 5.122859562e-4, -1.617608158e-4, 4.781565108e-5, -1.327316366e-5,
    3.470251308e-6, -8.568720265e-7, 2.003294754e-7, -4.445059129e-8, 9.381537386e-9);
const float kI1Far[6] = float[](
    3.892881175e-1, -9.761097491e-3, -1.105889388e-4, -3.882564809e-6, -2.512236238e-7, -2.631468847e-8);

// exp(a^2) erfc(a) for 0 <= a <= 1e8.
float erfcx_within(float a) {
  const float r = 1.0 / (a + 3.0), t = (a - 3.0) * r;
  float p = 6.78296346e-5;
  p = p * t - 2.10929662e-4;
  p = p * t - 5.07850607e-4;
  p = p * t + 2.97337072e-3;
  p = p * t - 1.23237108e-3;
  p = p * t - 2.68017221e-2;
  p = p * t + 1.19532302e-1;
  p = p * t - 3.10471714e-1;
  p = p * t + 5.90227962e-1;
  p = p * t - 8.83394241e-1;
  p = p * t + 1.07400692;
  return p * r;
}
float lg_erfcx(float x) {
  const float a = abs(x);
  const float right = a > 1e8 ? lg_quotient(0.564189584, a) : erfcx_within(a);
  return x < 0.0 ? 2.0 * lg_exp(x * x) - right : right;
}
// exp(-scale x^2) for scale <= 1. The square is computed exactly as two parts, since its error is the
// relative error of the result.
float exp_of_square(float x, float scale) {
  precise float high = upper_bits(x);
  precise float rest = (x - high) * (x + high);
  return exp_of_negative(-scale * (high * high), -scale * rest);
}
float lg_erfc(float x) {
  const float a = abs(x) > 12.0 ? 12.0 : abs(x);
  const float right = erfcx_within(a) * exp_of_square(a, 1.0);
  return x < 0.0 ? 2.0 - right : right;
}
// The logarithm of the normal distribution function. For small x it is computed from erfcx, without
// underflow.
float log_ndtr(float x) {
  const float a = abs(x), half_erfcx = 0.5 * erfcx_within(a > 1e8 ? 1e8 : a * 0.707106781186547524);
  const float tail = half_erfcx * exp_of_square(a > 16.0 ? 16.0 : a, 0.5);
  precise float whole = 1.0 - tail;
  precise float lost = (1.0 - whole) - tail;
  const bool left = x < 0.0;
  const float v = log_with_lost(left ? half_erfcx : whole, left ? 0.0 : lost);
  precise float square = 0.5 * x * x;  // x x may overflow
  return left ? v - square : tail == 0.0 ? -tail : v;
}

// A sum of Chebyshev polynomials, once for each table.
#define SUM_OF(name, table, terms)                          \
  float name(float t) {                                     \
    float next = 0.0, after = 0.0;                          \
    for (int i = terms - 1; i > 0; --i) {                   \
      const float here = table[i] + 2.0 * t * next - after; \
      after = next;                                         \
      next = here;                                          \
    }                                                       \
    return table[0] + t * next - after;                     \
  }
SUM_OF(i0_near, kI0Near, 18)
SUM_OF(i0_far, kI0Far, 6)
SUM_OF(i1_near, kI1Near, 17)
SUM_OF(i1_far, kI1Far, 6)

float lg_i0e(float x) {
  const float a = abs(x);
  return a > 8.0 ? i0_far(lg_quotient(16.0, a) - 1.0) / sqrt(a) : i0_near(a * 0.25 - 1.0);
}
float lg_i1e(float x) {
  const float a = abs(x);
  const float v = a > 8.0 ? i1_far(lg_quotient(16.0, a) - 1.0) / sqrt(a) : a * i1_near(a * 0.25 - 1.0);
  return lg_isnan(x) ? x : with_sign_of(x, v);
}

// exp(a) f for a >= 0, which overflows only if the result does.
float exp_times(float a, float f) {
  const bool large = a > 80.0;
  return lg_exp(large ? a - 8.0 : a) * (large ? f * 2980.95799 : f);
}
float lg_i0(float x) {
  return lg_isinf(x) ? abs(x) : exp_times(abs(x), lg_i0e(x));
}
float lg_i1(float x) {
  return lg_isinf(x) ? x : exp_times(abs(x), lg_i1e(x));
}

// The same two sums for erfinv() as polynomials: they have few terms, so powers lose no precision.
float erfinv_near(float t) {
  float p = -3.33398093e-5;
  p = p * t + 3.55313787e-5;
  p = p * t + 2.84075155e-4;
  p = p * t - 8.45545961e-4;
  p = p * t - 4.84349963e-4;
  p = p * t + 8.529176e-3;
  p = p * t - 1.95741933e-2;
  p = p * t - 2.61086859e-2;
  p = p * t + 6.16600752e-1;
  return p * t + 1.50140941;
}
float erfinv_far(float t) {
  float p = 5.43412534e-5;
  p = p * t - 6.69528381e-5;
  p = p * t - 1.22268408e-4;
  p = p * t + 1.16545787e-4;
  p = p * t + 2.08533733e-4;
  p = p * t - 1.48516556e-4;
  p = p * t - 7.58343085e-5;
  p = p * t - 2.12800049e-4;
  p = p * t + 3.98743141e-4;
  p = p * t - 1.64530426e-3;
  p = p * t + 5.08719916e-3;
  p = p * t + 2.78002722e-3;
  p = p * t - 4.1035220e-2;
  return p * t + 9.61643219e-1;
}

float erfinv_of(float y, float c) {
  if (lg_isnan(c) || c < 0.0 || c > 1.0) return nan();
  if (c == 0.0) return infinity();
  const float w = -lg_log(c * (1.0 + y)), root = sqrt(w);
  if (w < 5.0) return y * erfinv_near(w * 0.4 - 1.0);
  return root * erfinv_far((2.0 / root - 0.482927881) * 2.43012369);
}
float lg_erfinv(float y) {
  const float v = erfinv_of(abs(y), 1.0 - abs(y));
  return lg_isnan(v) ? v : with_sign_of(y, v);
}
float lg_ndtri(float p) {
  const float c = 2.0 * (p < 0.5 ? p : 1.0 - p);
  const float v = 1.41421356 * erfinv_of(1.0 - c, c);
  return p < 0.5 ? -v : v;
}

// sin(pi t) and cos(pi t) for 0 <= t <= 1/2.
float sin_of_turn(float t) {
  return t <= 0.25 ? sin_core(3.14159265 * t) : cos_core(3.14159265 * (0.5 - t));
}
float cos_of_turn(float t) {
  return t <= 0.25 ? cos_core(3.14159265 * t) : sin_core(3.14159265 * (0.5 - t));
}

float lg_digamma(float x) {
  if (x == 0.0) return lg_isinf(1.0 / x) ? -1.0 / x : -infinity();
  const bool left = x < 0.0;
  float y = left ? 1.0 - x : x, sum = 0.0;
  [[dont_unroll]] for (int i = 0; i < 10 && y < 10.0; ++i) {
    sum -= 1.0 / y;
    y += 1.0;
  }
  const float r = lg_quotient(1.0, y), r2 = r * r;
  const float tail = r2 * (0.0833333333 + r2 * (-0.00833333333 + r2 * 0.00396825397));
  const float right = sum + (lg_log(y) - 0.5 * r - tail);
  if (!left) return right;
  const float turn = x - roundEven(x);
  if (turn == 0.0 || lg_isinf(x)) return nan();
  const float cotangent = cos_of_turn(abs(turn)) / sin_of_turn(abs(turn));
  return right - 3.14159265 * (turn < 0.0 ? -cotangent : cotangent);
}

// log(gamma(2 + z)) for |z| <= 1/2: its Taylor series, whose coefficients are (zeta(k) - 1) / k with changing signs.
float lgamma_of_two_and(float z) {
  float p = -9.43948827e-6;
  p = p * z + 2.05072128e-5;
  p = p * z - 4.49262367e-5;
  p = p * z + 9.94575128e-5;
  p = p * z - 2.23154758e-4;
  p = p * z + 5.09669525e-4;
  p = p * z - 1.19275391e-3;
  p = p * z + 2.89051033e-3;
  p = p * z - 7.38555103e-3;
  p = p * z + 2.05808084e-2;
  p = p * z - 6.73523011e-2;
  p = p * z + 3.22467033e-1;
  p = p * z + 4.22784335e-1;
  return p * z;
}
// Gamma(x) is Gamma(2 + z) times or divided by a product of the numbers between x and 2 + z; from 3.5 on
// Stirling's series is used. Each case takes one logarithm, so that adjacent invocations can compute it
// together.
float lgamma_of_positive(float x) {
  const bool large = x >= 3.5, above = x >= 2.5, below = x < 1.5, small = x < 0.5;
  const float r = lg_quotient(1.0, x), r2 = r * r;
  const float series = r * (0.0833333333 - r2 * (0.00277777778 - r2 * (7.93650794e-4 - r2 * 5.95238095e-4)));
  const float product = large ? x : above ? x - 1.0 : small ? x * (x + 1.0) : below ? x : 1.0;
  const float logarithm = lg_log(product);
  const float v = lgamma_of_two_and(above ? x - 3.0 : small ? x : below ? x - 1.0 : x - 2.0);
  return large ? (x - 0.5) * logarithm - x + (0.918938533 + series) : below ? v - logarithm : v + logarithm;
}
// Below 0: log(pi / |sin(pi x)|) - lgamma(1 - x).
float lg_lgamma(float x) {
  if (lg_isnan(x)) return x;
  if (lg_isinf(x)) return infinity();
  if (x > 0.0) return lgamma_of_positive(x);
  const float turn = x - roundEven(x);
  if (turn == 0.0) return infinity();
  if (x > -0.5) return lgamma_of_positive(1.0 + x) - lg_log(-x);
  return lg_log(3.14159265 / sin_of_turn(abs(turn))) - lgamma_of_positive(1.0 - x);
}

// zeta(2, q) for q > 0, the derivative of digamma: five terms of the sum, and Stirling's series for the rest.
float zeta_of_two(float q) {
  float sum = 0.0;
  [[unroll]] for (int k = 0; k < 5; ++k) {
    const float r = lg_quotient(1.0, q + float(k));
    sum += r * r;
  }
  const float r = lg_quotient(1.0, q + 5.0), r2 = r * r;
  return sum + r * (1.0 + r * (0.5 + r * (0.166666667 - r2 * (0.0333333333 - r2 * (0.0238095238 - r2 * 0.0333333333)))));
}
float zeta_of_positive(float s, float q) {
  if (s == 2.0) return zeta_of_two(q);
  float sum = 0.0, w = q;
  [[dont_unroll]] for (int k = 0; k < 10; ++k) {
    sum += lg_quotient(1.0, lg_pow(w, s));
    w += 1.0;
  }
  const float power = lg_quotient(1.0, lg_pow(w, s)), t = min(s, 1000.0), r = lg_quotient(1.0, w);
  sum += lg_pow(w, 1.0 - s) / (s - 1.0) + 0.5 * power;
  if (power == 0.0) return sum;
  float term = power * t * r;
  sum += 0.0833333333 * term;
  term *= (t + 1.0) * r * (t + 2.0) * r;
  sum -= 0.00138888889 * term;
  term *= (t + 3.0) * r * (t + 4.0) * r;
  sum += 3.30687831e-5 * term;
  term *= (t + 5.0) * r * (t + 6.0) * r;
  return sum - 8.26719577e-7 * term;
}
float lg_zeta(float s, float q) {
  if (lg_isnan(s) || s < 1.0 || (lg_isnan(q) && s != 1.0)) return nan();
  if (s == 1.0 || (q <= 0.0 && q == floor(q))) return infinity();
  if (q > 0.0) return zeta_of_positive(s, q);
  if (s != floor(s)) return nan();
  const float part = q - floor(q), half_s = s * 0.5;
  const float below = zeta_of_positive(s, ceil(q) - q) - zeta_of_positive(s, 1.0 - q);
  return zeta_of_positive(s, part) + (half_s == floor(half_s) ? below : -below);
}

#define erfc lg_erfc
#define erfcx lg_erfcx
#define erfinv lg_erfinv
#define ndtri lg_ndtri
#define lgamma lg_lgamma
#define digamma lg_digamma
#define zeta lg_zeta
#define i0(x) lg_i0(x)
#define i1(x) lg_i1(x)
#define i0e lg_i0e
#define i1e lg_i1e
