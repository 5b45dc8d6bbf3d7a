#pragma once
// A form for a fork: the step after which the run continues, other values of parameters, the script; it also
// shows the progress of the new run's states. Each panel that offers forks has its own form. Owns the texts
// of the form. Drawing thread only.
#include <map>
#include <string>

#include "ui/window/tooltip.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class ForkForm {
 public:
  // Opens the form in the next draw(). `folder`: the run's folder, "": the window's own run.
  void open(Workbench&, const std::string& folder, int64_t step);
  // `button`: the visible button that opens the form.
  void draw(Workbench&, const ScreenArea& button);  // once a frame, in the panel's window
  // Draws the progress of the states with Cancel, and why the last fork failed.
  static void draw_state(Workbench&);

 private:
  void draw_step(Workbench&, const RunRecord&);
  void draw_script(Workbench&, const RunRecord&);
  void draw_params(Workbench&, const RunRecord&);
  void draw_start(Workbench&, const RunRecord&);
  int64_t last_step(Workbench&, const RunRecord&) const;

  std::string folder_;
  int step_ = 1;
  bool opens_ = false, edited_ = false;
  std::map<std::string, std::string> values_;  // values that the user typed, without those left unchanged
};

}  // namespace lunagrad
