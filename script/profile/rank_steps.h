#pragma once
// One rank's notes of a step, as text that travels to rank 0, and the step that rank 0 puts together from
// those of all ranks. Pure functions.
#include <memory>
#include <string>
#include <vector>

#include "runtime/dist/travels.h"
#include "script/view/rank_profile.h"

namespace lunagrad {

struct RankNotes {
  int64_t step = 0;
  int64_t begin = 0, end = 0;  // ns of this rank's clock
  dist::Travelled travelled;
  std::vector<int64_t> nearest;  // dist::Travels::nearest()
  std::string machine;           // processes of one machine have one steady clock; "": unknown
};

std::string text_of(const RankNotes&);
// Error when the text is none.
RankNotes rank_notes(const std::string& text);

// By how many ns rank 0's clock is ahead of each rank's: 0 on one machine, else the middle of what the stamps
// of both allow.
std::vector<int64_t> clock_offsets(const std::vector<RankNotes>& ranks);
// `ranks` are the notes of all ranks, in their order, of one step. `origin`: when measuring began, by rank
// 0's clock.
std::shared_ptr<const RankStep> rank_step(const std::vector<RankNotes>& ranks, int64_t origin);

}  // namespace lunagrad
