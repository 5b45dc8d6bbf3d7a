#pragma once
// Closing the window amid a run: asks what is to become of it. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Closing {
 public:
  // Somebody wants to close the window. True: nothing stands against it; otherwise draw() asks.
  bool request(const Workbench&);
  // Draws the question while there is one. True: the window may close now.
  bool draw(Workbench&);

 private:
  enum class State { none, asking, stopping, now } state_ = State::none;
  bool opening_ = false;
};

}  // namespace lunagrad
