#pragma once
// The tape's comparisons: the button that lists what the shown step can be compared with, the line above the
// sheet with the progress and result of a comparison, and the window of a difference of tapes. Drawing thread
// only.
#include "ui/panels/tape/diff_window.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class CompareMenu {
 public:
  // `panel`: the title of the tape's panel. Call once.
  void add_commands(Workbench&, const char* panel);
  void draw_button(Workbench&);
  void draw_line(Workbench&);  // takes no space while there is nothing to show
  void draw_window(Workbench& bench) { window_.draw(bench); }
  // The marks of the comparison that colours the tape; null if there is none.
  static std::shared_ptr<const NodeMarks> marks(Workbench&);

 private:
  void draw_sides(Workbench&);
  void draw_tapes(Workbench&);
  bool opening_ = false;
  char file_[512] = "";
  DiffWindow window_;
};

}  // namespace lunagrad
