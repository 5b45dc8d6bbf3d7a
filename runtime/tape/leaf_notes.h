#pragma once
// Notes about how the gradients of leaves were sent between ranks, for an inspector. The sender notes it once
// for each leaf and keeps the times in its note up to date. Belongs to the calling thread, as the tape does.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

struct LeafNote {
  std::string way;     // "bucket 3 of 7"
  double bytes = 0;    // of everything sent together
  std::string op;      // "all_reduce"
  double seconds = 0;  // duration of the last time, after all ranks were ready; 0: not yet
  std::string rest;    // "this rank keeps rows 1 to 16 of 32", or ""
};

// The later note of a leaf replaces the earlier one.
void note_leaves(const std::vector<Tensor>& leaves, const std::shared_ptr<LeafNote>& note);
// "travelled in bucket 3 of 7 (24.1 MiB, all_reduce 2.3 ms)"; "" for a leaf without a note.
std::string leaf_note(uint64_t node);
void forget_leaf_notes();

}  // namespace lunagrad
