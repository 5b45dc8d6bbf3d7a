#pragma once
// Calls over pairs of rows with 16-bit operands on the CPU. They are computed in f32 for some rows of both
// matrices at a time, so that the f32 numbers take less than half of the memory of operands and results. For
// the tensors' thread.
#include <span>

#include "runtime/ops/dense.h"

namespace lunagrad {

// What an operand or a result has in its last two dims.
enum class PairRole { own_rows, other_rows, pairs };  // [m, k], [n, k], [m, n]

struct PairBlocks {
  const Op& op;  // each block is a call of its f32 kernel
  Values params;
  std::span<const PairRole> inputs;
  PairRole output;
  // Operands and results of pairs are the pairs i < j of one matrix, in the order of pdist. The blocks' are
  // matrices.
  bool condensed = false;
  // The operand that differences are compared with: the largest ones, which were rounded; -1: none.
  int largest_at = -1;

  // Sums over pairs become results of own rows, and distances results of pairs.
  void run(const Call&) const;
};

}  // namespace lunagrad
