#pragma once
// The best alignment of two sequences (Needleman and Wunsch 1970, "A general method applicable to the search
// for similarities"), in which unpaired elements cost nothing. Pure; any thread.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lunagrad {

// Aligns positions [a0, a1) and [b0, b1): calls pair(i, k) from the last pair to the first. `likeness(i, k)`
// is a score; only positions with a positive score are paired. Takes (a1 - a0) (b1 - b0) bytes.
template <class Likeness, class Pair>
void align(int a0, int a1, int b0, int b1, Likeness&& likeness, Pair&& pair) {
  enum Step : uint8_t { skip_a, skip_b, both };
  const size_t rows = size_t(a1 - a0), columns = size_t(b1 - b0);
  std::vector<uint8_t> steps(rows * columns);
  std::vector<int> above(columns + 1, 0), row(columns + 1, 0);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < columns; ++k) {
      const int score = likeness(a0 + int(i), b0 + int(k));
      int best = above[k + 1];
      Step step = skip_a;
      if (row[k] > best) best = row[k], step = skip_b;
      // Among equally good alignments take the one with the early pairs, so that the last of equal blocks is
      // left over.
      if (score > 0 && above[k] + score > best) best = above[k] + score, step = both;
      row[k + 1] = best;
      steps[i * columns + k] = step;
    }
    std::swap(above, row);
  }
  for (size_t i = rows, k = columns; i > 0 && k > 0;) {
    switch (steps[(i - 1) * columns + (k - 1)]) {
      case both:
        pair(a0 + int(--i), b0 + int(--k));
        break;
      case skip_a:
        --i;
        break;
      default:
        --k;
    }
  }
}

}  // namespace lunagrad
