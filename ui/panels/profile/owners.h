#pragma once
// The profiler's list of tensors and tapes that outlive their step: the owner, the size, since when, whether
// it grows, and how to change the code. A click leads to the line of the owner. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class OwnersView {
 public:
  void draw(Workbench&);

 private:
  void draw_tools(Workbench&);
  static void draw_table(Workbench&, const LeakReport&);
  static void draw_row(Workbench&, const Leak&, bool leaks);
};

}  // namespace lunagrad
