#pragma once
// Asks what to do with the current run when the window is closed. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Closing {
 public:
  // Call it when the user wants to close the window. True: the window may close; otherwise draw() asks.
  bool request(const Workbench&);
  // Draws the question while there is one. True: the window may close now.
  bool draw(Workbench&);

 private:
  enum class State { none, asking, stopping, now } state_ = State::none;
  bool opening_ = false;
};

}  // namespace lunagrad
