// Functions in double precision that GLSL lacks, with errors of a few units in the last place.

// In [0, 1), from the upper 53 bits of two random words, as in runtime/core/random.h.
double uniform_f64(uint high, uint low) {
  return double((uint64_t(high) << 32 | low) >> 11) * 1.1102230246251565e-16lf;
}

// x = 2^e m with sqrt(1/2) < m <= sqrt(2), log m = 2 atanh((m - 1) / (m + 1)); x is positive and normal.
double log_of(double x) {
  uvec2 bits = unpackDouble2x32(x);
  int e = int(bits.y >> 20) - 1023;
  bits.y = (bits.y & 0xfffffu) | 0x3ff00000u;
  double m = packDouble2x32(bits);
  if (m > 1.4142135623730951lf) {
    m *= 0.5lf;
    ++e;
  }
  const double s = (m - 1.0lf) / (m + 1.0lf), z = s * s;
  double p = 0.0lf;
  [[unroll]] for (int k = 21; k >= 3; k -= 2) p = p * z + 2.0lf / double(k);
  const double tail = s * z * p;
  return double(e) * 0.69314718036912381649lf + (2.0lf * s + (tail + double(e) * 1.9082149292705877e-10lf));
}

// exp(x) for -700 < x < 700: 2^n exp(r) with |r| <= ln(2) / 2, by Taylor's series.
double exp_of(double x) {
  const double n = roundEven(x * 1.4426950408889634lf);
  const double r = (x - n * 0.69314718036912381649lf) - n * 1.9082149292705877e-10lf;
  double p = 1.0lf;
  [[unroll]] for (int k = 14; k >= 1; --k) p = 1.0lf + p * r / double(k);
  return p * packDouble2x32(uvec2(0, uint(int(n) + 1023) << 20));
}

// log(k!) of a whole number k >= 0: the logarithm of the product, or Stirling's series for the gamma function
// of k + 1.
double log_factorial(double k) {
  if (k < 20.0lf) {
    double product = 1.0lf;
    for (double i = 2.0lf; i <= k; i += 1.0lf) product *= i;
    return log_of(product);
  }
  const double x = k + 1.0lf, z = 1.0lf / (x * x);
  const double series =
      (1.0lf / 12.0lf - z * (1.0lf / 360.0lf - z * (1.0lf / 1260.0lf - z * (1.0lf / 1680.0lf - z / 1188.0lf)))) / x;
  return (x - 0.5lf) * log_of(x) - x + 0.91893853320467274178lf + series;
}
