#pragma once
// The track of the Time panel: all steps of the run from the first to the latest, with their marks (kept
// steps, keyframes, edits, reloads, checkpoints), and a handle that the mouse and keys move. Below it is the
// cost of the handle's step, or the progress of its replay. Owns the step that the handle is moved to.
// Drawing thread only.
#include <imgui.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/panels/time/track_marks.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TimeTrack {
 public:
  void add_commands(Workbench&, const char* panel);  // keys work while the panel `panel` has the focus
  void draw(Workbench&);
  void let_go() { aimed_.reset(); }  // releases the handle: it returns to the shown step

 private:
  struct Scale;  // maps steps to pixels
  void move(Workbench&, int64_t by);
  void aim(Workbench&, int64_t step);  // shows the step if it needs no replay, otherwise shows its cost
  void show(Workbench&);               // shows the step of the handle
  void draw_bar(Workbench&);
  void draw_known(Workbench&, const Scale&);
  void draw_handle(Workbench&, const Scale&, bool held);
  void tell_step(Workbench&, const Scale&) const;
  void draw_state(Workbench&);
  static void draw_progress(Workbench&, const ReplayController::Progress&);
  void draw_offer(Workbench&, int64_t step, const char* why);  // the cost of repeating the step
  static void draw_findings(Workbench&);

  std::vector<TrackMark> marks_;  // marks_ and signs_: what the track shows in this frame
  std::set<TrackSign> signs_;
  std::optional<int64_t> aimed_;  // the handle's step, until that step is shown
};

// "37 steps from the keyframe at 400, about 0.8 s"
std::string cost_text(const ReplayController::Cost&, int64_t first_step);

}  // namespace lunagrad
