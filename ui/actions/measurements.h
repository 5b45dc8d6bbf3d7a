#pragma once
// Turns on what the session measures and keeps only while a panel shows it: the profile and the batches of
// the data loader. A panel asks in each frame that it is drawn in. Owns the times of these requests. Drawing
// thread only.
#include <chrono>

#include "script/session.h"

namespace lunagrad {

class Measurements {
 public:
  explicit Measurements(Session& session) : session_(session) {}  // which outlives this object

  void want_profile() { profile_wanted_ = Clock::now(); }
  void want_data() { data_wanted_ = Clock::now(); }
  void reset_profile() { session_.reset_profile(); }

  // Turns each measurement on or off. Once a frame.
  void update() {
    session_.watch_profile(Clock::now() - profile_wanted_ < kForgetAfter);
    session_.watch_data(Clock::now() - data_wanted_ < kForgetAfter);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kForgetAfter{2};  // without a request

  Session& session_;
  Clock::time_point profile_wanted_, data_wanted_;
};

}  // namespace lunagrad
