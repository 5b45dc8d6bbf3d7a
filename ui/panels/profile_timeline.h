#pragma once
// The rows of the profiler's timeline: steps, backward passes, operations by depth, and the lanes of the
// pool's threads, the data loader's workers and the device. Drawing thread only, since colours are the
// theme's.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "script/view/profile.h"
#include "ui/widgets/timeline.h"

namespace lunagrad {

struct ProfileTimeline {
  // What a block shows: an operation (an index of StepProfile::spans) or one of these.
  enum : int { kStep = -1, kPass = -2, kNoCall = -3, kWait = -4 };
  struct Source {
    const StepProfile* step;  // of the steps that the timeline was made of
    int span;
    const ProfileLane* lane = nullptr;  // of a lane's block
    double length_ns = 0;               // of a lane's block or a wait
    uint32_t kernel = 0;                // that the device ran, interned; 0: none
  };
  std::vector<TimeRow> rows;
  std::vector<Source> sources;  // by TimeBlock::id
  double length_ns = 0;
};

// The steps follow each other without gaps: those between them were not measured.
ProfileTimeline profile_timeline(std::span<const std::shared_ptr<const StepProfile>> steps);

}  // namespace lunagrad
