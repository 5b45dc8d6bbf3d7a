#pragma once
// Turns on measurements of the session only while a panel shows them: the profile, the batches of the data
// loader, gradients at shorter intervals than usual. Gradients are measured in every layout as often as is
// cheap, since the alarms come from them. A panel requests the others in each frame that draws it; while the
// window draws no frames, no request expires. Owns the frame numbers of the requests. Drawing thread
// only.
#include <imgui.h>

#include <cstdint>

#include "script/session_watches.h"

namespace lunagrad {

class Measurements {
 public:
  explicit Measurements(SessionWatches& session) : session_(session) {}  // `session` must outlive this object

  void want_profile() { profile_wanted_ = ImGui::GetFrameCount(); }
  void want_data() { data_wanted_ = ImGui::GetFrameCount(); }
  // Measures gradients every `every` steps; 0: as often as is cheap.
  void want_statistics(int64_t every) {
    statistics_wanted_ = ImGui::GetFrameCount();
    every_ = every;
  }
  void reset_profile() { session_.reset_profile(); }

  // Turns each measurement on or off. Once a frame.
  void update() {
    session_.watch_profile(recent(profile_wanted_));
    session_.watch_data(recent(data_wanted_));
    session_.watch_statistics(true, recent(statistics_wanted_) ? every_ : 0);
  }

 private:
  static constexpr int kForgetAfter = 60;  // frames without a request
  static bool recent(int frame) { return ImGui::GetFrameCount() - frame < kForgetAfter; }

  SessionWatches& session_;
  int profile_wanted_ = -kForgetAfter, data_wanted_ = -kForgetAfter, statistics_wanted_ = -kForgetAfter;
  int64_t every_ = 0;
};

}  // namespace lunagrad
