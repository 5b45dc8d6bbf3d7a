#pragma once
// The window that lists the differences between the shown tape and another one, causes first. A click selects
// the finding's node, or leads to its line if the node is not on the shown tape. Drawing thread only.
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
