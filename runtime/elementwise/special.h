// Functions of elementwise.def that are computed from its other functions, for every type S of numbers:
// double precision (ops/elementwise/vocabulary.h) and SIMD vectors (cpu/vector.h). Like rows.h, the file is
// included in the namespace of each type, after the functions that it uses. gpu/ops/glsl/special.glsl has the
// same functions in GLSL.
//   digamma zeta i0 i1 i0e i1e erfcx erfinv ndtri
// The tables are Chebyshev coefficients of fits made for this file, with the argument mapped to -1 … 1.
// Single precision needs only their first terms. Pure, any thread.

#define LUNAGRAD_WORD [[gnu::always_inline]] inline

// The function of each table, and after "over" its mapped argument:
// exp(x^2) erfc(x) (x + 3) over (x - 3) / (x + 3), for x >= 0.
// exp(-x) I0(x) and exp(-x) I1(x) / x over x / 4 - 1, for x <= 8; times sqrt(x) over 16 / x - 1 beyond.
// erfinv(y) / y over w / 2.5 - 1 with w = -log(1 - y^2) up to 5; erfinv(y) / sqrt(w) over 1 / sqrt(w) beyond,
// for sqrt(w) up to 28.
inline constexpr double kScaledErfc[] = {
    1.41343822398087196,     -1.13147684907469738,     3.54108100342486363e-1,  -8.50870400990854545e-2,
    1.46152732728166392e-2,  -1.37955716362963284e-3,  -6.42906671431594558e-5, 3.90434210977240465e-5,
    -2.64278507485605409e-6, -8.23944014391085338e-7,  1.32479756976713563e-7,  1.91952251567264456e-8,
    -5.03050716374539653e-9, -5.84200641026704124e-10, 1.87423239104078359e-10, 2.43736726567304239e-11,
    -6.9909438396703232e-12, -1.25731156176963922e-12, 2.45800058063054066e-13, 7.00574163232290469e-14,
    -6.7327756944991694e-15, -3.84343058837067569e-15, 3.31637666764096538e-18, 1.9337385647869593e-16,
    1.95755308287291159e-17};
inline constexpr double kI0Near[] = {
    3.38397637204738042e-1,  -3.04682672343198399e-1,  1.71620901522208775e-1,  -9.49010970480476444e-2,
    4.93052842396707085e-2,  -2.37374148058994688e-2,  1.05464603945949983e-2,  -4.32430999505057594e-3,
    1.6394756169413358e-3,   -5.76375574538582366e-4,  1.88502885095841656e-4,  -5.7541950100821037e-5,
    1.64484480707288971e-5,  -4.41673835845875056e-6,  1.11738753912010372e-6,  -2.67079385394061173e-7,
    6.04699502254191895e-8,  -1.30002500998624804e-8,  2.65982372468238665e-9,  -5.18979560163526291e-10,
    9.67580903537323691e-11, -1.72682629144155571e-11, 2.95505266312963983e-12, -4.85644678311192946e-13,
    7.67618549860493562e-14, -1.16853328779934517e-14, 1.71539128555513303e-15, -2.43127984654795469e-16,
    3.3307945188222381e-17};
inline constexpr double kI0Far[] = {
    4.02245205507054416e-1,   3.36911647825569409e-3,   6.88975834691682398e-5,   2.89137052083475648e-6,
    2.04891858946906374e-7,   2.26666899049817806e-8,   3.39623202570838635e-9,   4.94060238822496959e-10,
    1.18891471078464383e-11,  -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13,  3.8527783827421427e-13,   1.54008621752140983e-14,  -4.15056934728722209e-14,
    -9.55484669882830765e-15, 3.81168066935262242e-15,  1.77256013305652638e-15,  -3.42548561967721913e-16,
    -2.82762398051658348e-16, 3.46122286769746109e-17,  4.46562142029676e-17};
inline constexpr double kI1Near[] = {
    1.26293593221816827e-1,  -1.76416518357834055e-1,  1.02643658689847095e-1,  -5.29459812080949914e-2,
    2.47264490306265168e-2,  -1.05640848946261982e-2,  4.15642294431288816e-3,  -1.51357245063125315e-3,
    5.12285956168575773e-4,  -1.61760815825896746e-4,  4.78156510755005423e-5,  -1.32731636560394358e-5,
    3.47025130813767848e-6,  -8.56872026469545474e-7,  2.00329475355213526e-7,  -4.44505912879632808e-8,
    9.38153738649577178e-9,  -1.88724975172282929e-9,  3.62559028155211704e-10, -6.66348972350202774e-11,
    1.17361862988909016e-11, -1.98397439776494372e-12, 3.22379336594557471e-13, -5.04218550472791169e-14,
    7.60068429473540693e-15, -1.10559694773538631e-15, 1.55363195773620047e-16, -2.11142121435816608e-17};
inline constexpr double kI1Far[] = {
    3.8928811750914006e-1,    -9.76109749136146841e-3,  -1.10588938762623716e-4,  -3.88256480887769039e-6,
    -2.51223623787020893e-7,  -2.63146884688951951e-8,  -3.83538038596423702e-9,  -5.58974346219658381e-10,
    -1.89749581235054123e-11, 3.25260358301548824e-11,  1.41258074366137813e-11,  2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14, 4.27244001671195135e-14,
    1.04202769841288028e-14,  -3.8144030724370078e-15,  -1.88035477551078245e-15, 3.30820231092092828e-16,
    2.96262899764595014e-16,  -3.20952592199342396e-17, -4.65030536848935833e-17};
inline constexpr double kErfinvNear[] = {
    1.49129894047449022,    6.01756303410830017e-1,  -9.17055950008092636e-3, -4.96263532676642451e-3,
    9.15379670007964204e-4, -3.88956275708300061e-6, -2.42025994049440836e-5, 3.26657159258423321e-6,
    2.77588898037366324e-7, -1.30233630136430253e-7, 8.10464342479186964e-9,  2.86243851769307493e-9};
inline constexpr double kErfinvFar[] = {
    9.62322695529384742e-1,  -3.69418381586094754e-2, 4.24545547237273331e-4,  1.41762060984607062e-3,
    -2.66918069209863071e-4, 3.57365121476553449e-5,  -1.2881204406912585e-5,  3.37353785444028149e-6,
    -1.04166064221665998e-6, 5.3597356936639604e-7,   -1.64673308220860981e-7, 5.30670645953635922e-8,
    -3.26918161454174274e-8, 1.32669079797469853e-8,  -3.85377805789912338e-9, 2.22786719501100374e-9};

// c[0] + c[1] T1(t) + … by Clenshaw's recurrence: all terms, or the first `terms` in single precision.
template <size_t terms, class S, size_t N>
LUNAGRAD_WORD S chebyshev(S t, const double (&c)[N]) {
  const S twice = t + t;
  S next(0), after(0);
  for (size_t i = S::kSingle ? terms - 1 : N - 1; i > 0; --i) {
    const S here = S(c[i]) + twice * next - after;
    after = next;
    next = here;
  }
  return S(c[0]) + t * next - after;
}

// exp(x^2) erfc(x); below 0 it is 2 exp(x^2) - erfcx(-x).
template <class S>
LUNAGRAD_WORD S erfcx(S x) {
  const S a = abs(x), r = S(1) / (a + S(3));
  const S near = chebyshev<11>((a - S(3)) * r, kScaledErfc) * r;
  const S right = sel(a > S(1e8), S(0.56418958354775628695) / a, near);
  return sel(x < S(0), S(2) * exp(x * x) - right, right);
}

template <class S>
LUNAGRAD_WORD S i0e(S x) {
  const S a = abs(x);
  const S near = chebyshev<18>(min(a, S(8)) * S(0.25) - S(1), kI0Near);
  const S far = chebyshev<6>(S(16) / max(a, S(8)) - S(1), kI0Far) / sqrt(a);
  return sel(a <= S(8), near, far);
}
template <class S>
LUNAGRAD_WORD S i1e(S x) {
  const S a = abs(x);
  const S near = a * chebyshev<17>(min(a, S(8)) * S(0.25) - S(1), kI1Near);
  const S far = chebyshev<6>(S(16) / max(a, S(8)) - S(1), kI1Far) / sqrt(a);
  return copysign(sel(a <= S(8), near, far), x);
}

// exp(a) f for a >= 0, which overflows only if the result does.
template <class S>
LUNAGRAD_WORD S exp_times(S a, S f) {
  const auto large = a > S(80);
  const S rest = sel(large, f * S(2980.95798704172827474), f);  // exp(8) f
  return exp(sel(large, a - S(8), a)) * rest;
}
template <class S>
LUNAGRAD_WORD S i0(S x) {
  return sel(isinf(x), abs(x), exp_times(abs(x), i0e(x)));
}
template <class S>
LUNAGRAD_WORD S i1(S x) {
  return sel(isinf(x), x, exp_times(abs(x), i1e(x)));
}

// The inverse of erf for y = 1 - c >= 0. In double precision one step of Halley's method for erfc(x) = c, or
// for erf(x) = y where c is not small, follows the fit.
template <class S>
LUNAGRAD_WORD S erfinv_of(S y, S c) {
  const S w = -log(c * (S(1) + y)), root = sqrt(w);
  const S near = y * chebyshev<10>(w * S(0.4) - S(1), kErfinvNear);
  constexpr double kLeast = 1 / 28.0, kMost = 0.44721359549995793928;
  const S place = (S(2) / root - S(kMost + kLeast)) * S(1 / (kMost - kLeast));
  S x = sel(w < S(5), near, root * chebyshev<14>(place, kErfinvFar));
  if constexpr (!S::kSingle) {
    const S root_scale = exp(S(0.5) * x * x);  // exp(x^2) alone would overflow
    const S near_one = erfcx(x) - c * root_scale * root_scale;
    const S near_zero = (y - erf(x)) * root_scale * root_scale;
    const S step = S(0.88622692545275801365) * sel(c < S(0.5), near_one, near_zero);
    x = x + step / (S(1) - step * x);
  }
  return sel(c == S(0), -log(c), x);
}
template <class S>
LUNAGRAD_WORD S erfinv(S y) {
  const S a = abs(y);
  return copysign(erfinv_of(a, S(1) - a), y);
}
template <class S>
LUNAGRAD_WORD S ndtri(S p) {
  const S c = S(2) * sel(p < S(0.5), p, S(1) - p);
  const S x = S(1.41421356237309504880) * erfinv_of(S(1) - c, c);
  return sel(p < S(0.5), -x, x);
}

// psi(x): ten steps of psi(x) = psi(x + 1) - 1 / x, the asymptotic series (Abramowitz and Stegun 6.3.18) and,
// below 0, psi(x) = psi(1 - x) - pi cot(pi x).
template <class S>
LUNAGRAD_WORD S digamma(S x) {
  constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  const auto left = x < S(0);
  S y = sel(left, S(1) - x, x), sum(0);
  for (int i = 0; i < 10; ++i) {
    const auto small = y < S(10);
    sum = sel(small, sum - S(1) / y, sum);
    y = sel(small, y + S(1), y);
  }
  const S r = S(1) / y, r2 = r * r;
  S tail(0);
  for (int i = 7; i >= 0; --i) tail = (tail + S(kSeries[i])) * r2;
  const S right = sum + (log(y) - S(0.5) * r - tail);
  const S pi(3.14159265358979323846), turn = x - round_even(x);
  const S turned = right - pi * cos(pi * turn) / sin(pi * turn);
  return sel(x == S(0), S(-1) / x, sel(left, sel(turn == S(0), log(S(-1)), turned), right));
}

// The sum of (k + q)^-s for k >= 0, q > 0: ten terms, then the Euler-Maclaurin formula. Its terms vanish for
// s far above 1000, where their factors would overflow.
template <class S>
inline S zeta_of_positive(S s, S q) {
  constexpr double kSeries[] = {1.0 / 12,
                                -1.0 / 720,
                                1.0 / 30240,
                                -1.0 / 1209600,
                                1.0 / 47900160,
                                -691.0 / 1307674368000.0,
                                1.0 / 74724249600.0,
                                -3617.0 / 10670622842880000.0};
  S sum(0), w = q;
  for (int k = 0; k < 10; ++k) {
    sum = sum + S(1) / pow(w, s);
    w = w + S(1);
  }
  const S power = S(1) / pow(w, s), t = min(s, S(1000)), r = S(1) / w;
  sum = sum + pow(w, S(1) - s) / (s - S(1)) + S(0.5) * power;
  S term = power * t * r;
  for (int k = 0; k < 8; ++k) {
    sum = sum + S(kSeries[k]) * term;
    term = term * (t + S(2 * k + 1)) * r * (t + S(2 * k + 2)) * r;
  }
  return sum;
}
// The Hurwitz zeta function for s > 1. For q < 0, where s must be an integer, the terms on the two sides of 0
// are two of the sums above; the poles are infinite.
template <class S>
LUNAGRAD_WORD S zeta(S s, S q) {
  const auto left = q < S(0);
  const S part = q - floor(q);
  S sum = zeta_of_positive(s, sel(left, part, q));
  if (any_true(left)) {
    const S below = zeta_of_positive(s, ceil(q) - q) - zeta_of_positive(s, S(1) - q);
    const S half = s * S(0.5);
    const S both = sum + sel(half == floor(half), below, -below);
    sum = sel(left, sel(s == floor(s), both, log(S(-1))), sum);
  }
  const S infinite = -log(S(0));
  sum = sel(q <= S(0) && q == floor(q), infinite, sum);
  return sel(s > S(1), sum, sel(s == S(1), infinite, log(S(-1)) + s));
}

#undef LUNAGRAD_WORD
