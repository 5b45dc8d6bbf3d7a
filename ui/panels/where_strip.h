#pragma once
// "Where am I": one row below the toolbar, in every layout, while the run stands still: why, at which line
// and op, the values of its operands, and the action that makes sense next. Drawing thread only.
#include <optional>
#include <string>

#include "ui/base/pause_text.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class WhereStrip {
 public:
  // At the cursor; takes no space while there is nothing to say. It keeps its row during a single step, so
  // that the panels below do not move at each, and gives it up at once when the run goes on, so that none
  // moves later under the mouse.
  void draw(Workbench&, float width);

 private:
  std::optional<PauseText> text_of(Workbench&) const;
  void draw_row(Workbench&, float width, bool present);
  static void act(Workbench&, const PauseText&);

  std::optional<PauseText> shown_;
  bool bad_ = false;  // an error or a NaN
};

}  // namespace lunagrad
