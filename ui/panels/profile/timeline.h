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
  // What a block shows: an operation (an index into StepProfile::spans) or one of these.
  enum : int { kStep = -1, kPass = -2, kNoCall = -3, kWait = -4 };
  struct Source {
    const StepProfile* step;  // one of the steps in the timeline
    int span;
    const ProfileLane* lane = nullptr;  // of a lane's block
    double length_ns = 0;               // of a lane's block or a wait
    uint32_t kernel = 0;                // kernel on the device, interned; 0: none
  };
  std::vector<TimeRow> rows;
  std::vector<Source> sources;  // by TimeBlock::id
  double length_ns = 0;
};

// Joins the steps without gaps: the steps between them were not measured.
ProfileTimeline profile_timeline(std::span<const std::shared_ptr<const StepProfile>> steps);

}  // namespace lunagrad
