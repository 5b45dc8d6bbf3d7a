#pragma once
// The contents of the Time panel's track besides its handle: signs, their legend, and the marks of a run with
// their steps. Only draws and reads; drawing thread only.
#include <imgui.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

enum class TrackSign { kept, values, keyframe, probe, edit, reload, checkpoint, pause, not_finite, fork };

struct TrackMark {
  TrackSign sign;
  int64_t step = 0;
  std::string text;
};

// The events of the window's run: its marks in Curves, its start if it is a fork, and the steps after which
// other runs continue from it.
std::vector<TrackMark> track_marks(const Workbench&);
ImU32 sign_color(TrackSign);
void draw_sign(ImDrawList*, TrackSign, ImVec2 center, float size);
// The signs with their names, in as many lines as they need.
void draw_legend(Workbench&, const std::set<TrackSign>&);

}  // namespace lunagrad
