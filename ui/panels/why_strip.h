#pragma once
// The answer to "Why?", above the panels in every layout, in a host's window above the panel that asked, so
// that it covers nothing of what it explains: one line for each cause, from the effect to the first cause. A
// click selects the line's node, opens its source line, or shows its step. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class WhyStrip {
 public:
  void draw(Workbench&, float width);  // at the cursor; takes no space while there is no answer

 private:
  // How a cause is drawn in this width: the labels of its buttons, "" for none, and sizes in pixels.
  struct LinkRow {
    std::string line, step;
    float wrap, text, height;  // the width and the height of the sentence, the height of the row
  };
  static LinkRow row_of(const WhyLink&, float width);
  static void draw_link(Workbench&, size_t index, float width);
  uint64_t number_ = 0;  // of the answer in the last frame
};

// A button of a row of tools, or an entry of an open menu, that asks; `item` is its name in the description.
// Returns true when chosen.
bool why_button(Workbench&, const char* item, const char* help);
bool why_entry(Workbench&, const char* item, const char* help);

}  // namespace lunagrad
