#pragma once
// A panel of the window: a file in ui/panels/ and a row in ui/panels/panels.def. It draws the state of the
// workbench and calls its actions; its members keep the user's settings in the panel. Drawing thread only.
#include <memory>
#include <vector>

#include "ui/actions/layout.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Panel {
 public:
  virtual ~Panel() = default;
  virtual const char* title() const = 0;
  virtual Region region() const = 0;        // its region until the user moves it
  virtual void add_commands(Workbench&) {}  // called once, before the first frame
  virtual void draw_tools(Workbench&) {}    // draws to the right of the title, on one line
  virtual void draw(Workbench&) = 0;        // draws the content, which fills the region
};

std::vector<std::unique_ptr<Panel>> make_panels();  // all panels, in the order of panels.def

// A button that is highlighted while `on`. Returns true when pressed.
bool tool_button(const char* label, bool on = false);
// A headline and a sentence in the middle of an empty panel.
void draw_empty(const char* headline, const char* sentence);

}  // namespace lunagrad
