#pragma once
// Asks how a run shall go on from one of its steps: the step, other values of parameters, the script; and
// shows how far the new run's states are. Panels that offer it have one each. Owns the texts of the form.
// Drawing thread only.
#include <map>
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class ForkForm {
 public:
  // Opens the form in the next draw(). `folder`: of the run, "": the window's own.
  void open(Workbench&, const std::string& folder, int64_t step);
  void draw(Workbench&);  // once a frame, in the panel's window
  // The states that are being made, with Cancel, and why the last fork failed.
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
  std::map<std::string, std::string> values_;  // as typed; those of the step are not among them
};

}  // namespace lunagrad
