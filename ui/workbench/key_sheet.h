#pragma once
// The sheet of keys: every command with its key and description, as a dialog and in the help panel. Drawing
// thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

// The table; fills the available space.
void draw_keys(Workbench&);

class KeySheet {
 public:
  void open() { opening_ = true; }
  void draw(Workbench&);

 private:
  bool opening_ = false;
};

}  // namespace lunagrad
