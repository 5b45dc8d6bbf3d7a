#pragma once
// Turns on what the session measures and keeps only while a panel shows it: the profile, the batches of the
// data loader, gradients more often than usual. A panel asks in each frame that it is drawn in; a window that
// draws nothing forgets nothing. Owns the frames of these requests. Drawing thread only.
#include <imgui.h>

#include <cstdint>

#include "script/session.h"

namespace lunagrad {

class Measurements {
 public:
  explicit Measurements(Session& session) : session_(session) {}  // which outlives this object

  void want_profile() { profile_wanted_ = ImGui::GetFrameCount(); }
  void want_data() { data_wanted_ = ImGui::GetFrameCount(); }
  // The steps between two whose gradients are measured; 0: as often as costs little.
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

  Session& session_;
  int profile_wanted_ = -kForgetAfter, data_wanted_ = -kForgetAfter, statistics_wanted_ = -kForgetAfter;
  int64_t every_ = 0;
};

}  // namespace lunagrad
