#pragma once
// A panel of the window: a file in ui/panels/ and a row in ui/panels/panels.def. It draws the state of the
// workbench and calls its actions; its members keep the user's settings in the panel. Drawing thread only.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/actions/layout.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// The step whose values a panel shows.
struct PanelStep {
  int64_t step = 0;
  bool said = false;    // the panel's tools name the step
  bool former = false;  // it is a step of the previous run
};

class Panel {
 public:
  virtual ~Panel() = default;
  virtual const char* title() const = 0;
  virtual Region region() const = 0;  // its region until the user moves it
  // The step whose values the panel shows now; nothing if it shows the whole run, or no run. Its header names
  // a step that differs from the window's step (ShownStep::cursor()).
  virtual std::optional<PanelStep> shown_step(const Workbench&) const = 0;
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

// The step of the tape, for panels that show it or its nodes; nothing while there is no tape.
std::optional<PanelStep> step_of_tape(const Workbench&, bool said);
// "step 5,038" for the header of a panel that does not show the window's step; "" for one that does.
std::string step_note(const Workbench&, const PanelStep&);
// The colour of a panel's step: it stands out while the window shows a past step, and at a pause if the
// panel's step differs. While the script runs, panels are some steps behind it.
ImU32 step_color(const Workbench&, int64_t step);

// The line of the window's step on charts: its colour, and its description, "step 5,038 (past)".
ImU32 cursor_color(const Workbench&);
std::string cursor_text(const Workbench&);
void describe_cursor(Workbench&, const char* item, float x, float top, float bottom);

// A button that is highlighted while `on`. Returns true when pressed.
bool tool_button(const char* label, bool on = false);
// A headline and a sentence in the middle of an empty panel.
void draw_empty(const char* headline, const char* sentence);

}  // namespace lunagrad
