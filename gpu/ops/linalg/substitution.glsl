// Triangular systems in shared memory: the triangular matrix at the beginning of `held`, the right sides from
// `sides` on, as rows of `width` (at most 64) numbers.
uint sides;

// Replaces the right sides by the solutions. `turned`: the matrix in memory is transposed.
void substitute(uint n, uint width, bool upper, bool unit, bool turned) {
  const Share mine = share_of(width);
  const bool works = mine.column < width;
  for (uint s = 0; s < n; ++s) {
    const uint i = upper ? n - 1 - s : s, at = sides + i * width + mine.column;
    barrier();
    if (!unit) {
      if (works && mine.row == 0) held[at] = lg_quotient(held[at], held[i * stride + i]);
      barrier();
    }
    if (!works) continue;
    const Number x = held[at];
    for (uint j = (upper ? 0 : i + 1) + mine.row; j < (upper ? i : n); j += mine.step)
      held[sides + j * width + mine.column] -= times(held[turned ? i * stride + j : j * stride + i], x);
  }
  barrier();
}
