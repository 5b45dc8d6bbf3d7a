#pragma once
// The window that lists the difference of the shown tape and another one, causes first. A click on a line
// selects its node, or leads to the line of one that is gone. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class DiffWindow {
 public:
  void draw(Workbench&);

 private:
  void draw_head(Workbench&, const TapeDiff&);
  void draw_save(Workbench&);
  char path_[512] = "";
  std::shared_ptr<const TapeDiff> shown_;
};

}  // namespace lunagrad
