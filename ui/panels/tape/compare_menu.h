#pragma once
// The tape's comparisons: the button with what the shown step can be compared with, and the line above the
// sheet that says how far a comparison is and what it found. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class CompareMenu {
 public:
  // `panel`: the title of the tape's panel. Called once.
  void add_commands(Workbench&, const char* panel);
  void draw_button(Workbench&);
  void draw_line(Workbench&);  // takes no room while there is nothing to say

 private:
  void draw_sides(Workbench&);
  bool opening_ = false;
};

}  // namespace lunagrad
