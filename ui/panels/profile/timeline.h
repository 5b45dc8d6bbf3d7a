#pragma once
// The rows of the profiler's timeline: steps, backward passes, operations by depth, and the lanes of the
// pool's threads, the data loader's workers and the device. Drawing thread only, since it uses the theme's
// colours.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "script/view/profile.h"
#include "ui/widgets/timeline.h"

namespace lunagrad {

struct ProfileTimeline {
  // The content of a block: an operation (an index into StepProfile::spans) or one of these values.
  enum : int { kStep = -1, kPass = -2, kNoCall = -3, kWait = -4 };
  struct Source {
    const StepProfile* step;  // one of the steps in the timeline
    int span;
    const ProfileLane* lane = nullptr;  // the lane, if the block belongs to one
    double length_ns = 0;               // for a lane's block or a wait
    uint32_t kernel = 0;                // interned name of the device's kernel; 0: none
  };
  std::vector<TimeRow> rows;
  std::vector<Source> sources;  // by TimeBlock::id
  double length_ns = 0;
};

// Joins the steps without gaps: other steps between them were not measured.
ProfileTimeline profile_timeline(std::span<const std::shared_ptr<const StepProfile>> steps);

}  // namespace lunagrad
