#pragma once
// A panel of the window: a file in ui/panels/ and a row in ui/panels/panels.def. It draws the state of the
// workbench and calls its actions; its members keep the user's settings in the panel. Drawing thread only.
#include <functional>
#include <memory>
#include <string>
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

 protected:
  // Adds a command for a view, a button or a setting of the panel: the palette finds it, shows the panel and
  // calls `run`. The command's name is the panel's title with the button's label. What `run` does is
  // recorded, the command itself is not.
  void add_own_command(Workbench&, std::string label, const std::string& help, std::function<void()> run,
                       std::function<bool()> possible = {}) const;
};

std::vector<std::unique_ptr<Panel>> make_panels();  // all panels, in the order of panels.def

// A button that is highlighted while `on`. Returns true when pressed.
bool tool_button(const char* label, bool on = false);
// A headline and a sentence in the middle of an empty panel.
void draw_empty(const char* headline, const char* sentence);

}  // namespace lunagrad
