// Divides numbers below 2^31 by a divisor that the host prepared: Granlund, Montgomery, "Division by
// invariant integers using multiplication", 1994.
struct Divisor {
  uint factor, shift;
};
uint quotient(uint n, Divisor by) {
  uint high, low;
  umulExtended(by.factor, n, high, low);
  return (high + n) >> by.shift;
}
