#pragma once
// The answer to "Why?", above the panels in every layout, so that it covers nothing of what it explains: one
// line for each cause, from the effect to the first cause. A click selects the line's node, opens its source
// line, or shows its step. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class WhyStrip {
 public:
  void draw(Workbench&, float width);  // at the cursor; takes no space while there is no answer

 private:
  static void draw_link(Workbench&, size_t index, float width);
  uint64_t number_ = 0;  // of the answer in the last frame
};

// A button of a row of tools, or an item of an open menu, that asks. Returns true when chosen. `help` names
// what is asked about. Draws nothing where answers have no place.
bool why_button(Workbench&, const char* help);
bool why_item(Workbench&, const char* help);

}  // namespace lunagrad
