#pragma once
// A rank's notes of one step, as text that is sent to rank 0, and the step that rank 0 assembles from the
// notes of all ranks. Pure functions.
#include <memory>
#include <string>
#include <vector>

#include "runtime/dist/transfer_log.h"
#include "script/view/rank_profile.h"

namespace lunagrad {

struct RankNotes {
  int64_t step = 0;
  int64_t begin = 0, end = 0;  // ns by this rank's clock
  dist::LoggedTransfers travelled;
  std::vector<int64_t> nearest;  // dist::TransferLog::nearest()
  std::string machine;  // identifies the machine, whose processes share one steady clock; "": unknown
};

std::string text_of(const RankNotes&);
// Error when the text is not a rank's notes.
RankNotes rank_notes(const std::string& text);

// For each rank, by how many ns rank 0's clock is ahead of the rank's clock. 0 on the same machine, else the
// middle of the range that the stamps of both ranks allow.
std::vector<int64_t> clock_offsets(const std::vector<RankNotes>& ranks);
// `ranks` are the notes of all ranks for one step, in the order of the ranks. `origin`: when measuring began,
// by rank 0's clock.
std::shared_ptr<const RankStep> rank_step(const std::vector<RankNotes>& ranks, int64_t origin);

}  // namespace lunagrad
