#pragma once
// The sheet of keys: every command with its key and what it does, as a dialog and within the help. Drawing
// thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

// The table; fills the room there is.
void draw_keys(Workbench&);

class KeySheet {
 public:
  void open() { opening_ = true; }
  void draw(Workbench&);

 private:
  bool opening_ = false;
};

}  // namespace lunagrad
