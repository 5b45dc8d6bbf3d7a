// Parts that Jacobi's methods for eigenvalues and singular values share. In each round every index is in one
// pair, so the rotations of a round are independent; a sweep of rounds visits each pair once.
const uint kMostSweeps = 40;
const uint kMostPairs = 32;

// Pairs as in a round-robin tournament: players 0 … players - 2 (an odd number) rotate, the last one stays. A
// pair may contain the index n, which does not exist.
uint players_of(uint n) {
  return n + (n & 1);
}
uvec2 pair_of(uint pair, uint round, uint players) {
  const uint turning = players - 1;
  const uint a = pair == 0 ? turning : (round + pair) % turning, b = (round + turning - pair) % turning;
  return uvec2(min(a, b), max(a, b));
}

// Makes the Hermitian matrix (p, z; z*, q) diagonal: columns x, y become c x - s* y and s x + c y, and the
// diagonal becomes p - shift, q + shift. z is not 0. With rest = |s| / (1 + c), c = 1 - |s| rest need not be
// rounded, so that lengths keep their last bits over many rotations (Rutishauser, "The Jacobi method for real
// symmetric matrices", 1966).
struct Rotation {
  Number s;
  float rest;  // times s / |s|: see rotate()
  float shift;
};
Rotation rotation_of(float p, float q, Number z) {
  const float size = size_of(z), half_cotangent = (q - p) / (2.0 * size);
  const float t = (half_cotangent >= 0.0 ? 1.0 : -1.0) / (abs(half_cotangent) + sqrt(1.0 + half_cotangent * half_cotangent));
  const float c = 1.0 / sqrt(1.0 + t * t);
  return Rotation((z / size) * (t * c), 1.0 / (1.0 + c), t * size);
}
// Rotates elements x and y of the shared memory.
void rotate(uint x, uint y, Number s, float rest) {
  const Number a = held[x], b = held[y];
  held[x] = a - times(conjugate(s), b + times(s, a) * rest);
  held[y] = b + times(s, a - times(conjugate(s), b) * rest);
}

// Rotates elements x, x + apart, … with y, y + apart, …, four at a time: Mesa's CPU driver ends an
// invocation's loops after 65535 rounds in all.
void rotate_all(uint x, uint y, uint apart, uint count, Rotation turn) {
  for (uint first = 0; first < count; first += 4) {
    [[unroll]] for (uint k = 0; k < 4; ++k)
      if (first + k < count) rotate(x + (first + k) * apart, y + (first + k) * apart, turn.s, turn.rest);
  }
}

shared uint largest_bits;  // bits of the largest magnitude, a float

// Scales the elements by a power of two, so that the largest is between 1 and 2, and returns that power.
float scale_elements(uint rows, uint columns) {
  const uint me = gl_LocalInvocationID.x;
  if (me == 0) largest_bits = 0;
  barrier();
  for (uint e = me; e < rows * columns; e += kThreads)
    atomicMax(largest_bits, floatBitsToUint(largest_of(held[e / columns * stride + e % columns])));
  barrier();
  const float factor = uintBitsToFloat(clamp(254 - (largest_bits >> 23), 1u, 254u) << 23);
  for (uint e = me; e < rows * columns; e += kThreads) held[e / columns * stride + e % columns] *= factor;
  barrier();
  return factor;
}
