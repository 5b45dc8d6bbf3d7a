#pragma once
// The track of the Time panel: all steps of the run from the first to the latest, with what is known of them
// (kept steps, keyframes, edits, reloads, checkpoints), and a handle that the mouse and keys move. Below it
// stands what the step of the handle costs, or how far its replay is. Owns the step that the handle is moved
// to. Drawing thread only.
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
  void add_commands(Workbench&, const char* panel);  // with keys while the panel of this title has the focus
  void draw(Workbench&);
  void let_go() { aimed_.reset(); }  // of the handle: it stands where the window is

 private:
  struct Scale;  // of steps to pixels
  void move(Workbench&, int64_t by);
  void aim(Workbench&, int64_t step);  // shows the step if it is at hand, otherwise says what it costs
  void show(Workbench&);               // the step of the handle
  void draw_bar(Workbench&);
  void draw_known(Workbench&, const Scale&);
  void draw_handle(Workbench&, const Scale&, bool held);
  void tell_step(Workbench&, const Scale&) const;
  void draw_state(Workbench&);
  static void draw_progress(Workbench&, const ReplayDesk::Progress&);
  void draw_offer(Workbench&, int64_t step, const char* why);  // what repeating the step takes
  static void draw_findings(Workbench&);

  std::vector<TrackMark> marks_;  // of this frame, as signs_: what the track shows
  std::set<TrackSign> signs_;
  std::optional<int64_t> aimed_;  // where the handle stands, before its step is shown
};

// "37 steps from the keyframe at 400, about 0.8 s"
std::string cost_text(const ReplayDesk::Cost&, int64_t first_step);

}  // namespace lunagrad
