#pragma once
// A panel is one file in panels/ and one line in panels.cpp. It draws what the workbench knows and calls its
// actions; its members are what the user set in it.
#include <memory>
#include <vector>

#include "ui/workbench/layout.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Panel {
 public:
  virtual ~Panel() = default;
  virtual const char* title() const = 0;
  virtual Region region() const = 0;        // where it is until somebody moves it
  virtual void add_commands(Workbench&) {}  // once, before the first frame
  virtual void draw_tools(Workbench&) {}    // to the right of the title, on one line
  virtual void draw(Workbench&) = 0;        // fills the region
};

std::vector<std::unique_ptr<Panel>> make_panels();
std::unique_ptr<Panel> make_editor_panel();
std::unique_ptr<Panel> make_console_panel();
std::unique_ptr<Panel> make_curves_panel();
std::unique_ptr<Panel> make_runs_panel();
std::unique_ptr<Panel> make_tape_panel();
std::unique_ptr<Panel> make_inspector_panel();
std::unique_ptr<Panel> make_help_panel();
std::unique_ptr<Panel> make_gradients_panel();
std::unique_ptr<Panel> make_parameters_panel();
std::unique_ptr<Panel> make_breakpoints_panel();
std::unique_ptr<Panel> make_profiler_panel();
std::unique_ptr<Panel> make_data_panel();
std::unique_ptr<Panel> make_media_panel();
std::unique_ptr<Panel> make_time_panel();

// A button that stays lit while `on`. True: pressed.
bool tool_button(const char* label, bool on = false);
// A sentence in the middle of an empty panel.
void draw_empty(const char* headline, const char* sentence);

}  // namespace lunagrad
