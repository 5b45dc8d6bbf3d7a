// Divides numbers below 2^31 by a number that is known beforehand: Granlund, Montgomery, "Division by invariant integers using
// multiplication", 1994.
struct Divisor {
  uint factor, shift;
};
uint quotient(uint n, Divisor by) {
  uint high, low;
  umulExtended(by.factor, n, high, low);
  return (high + n) >> by.shift;
}
