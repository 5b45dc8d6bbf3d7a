#pragma once
// The commands that belong to no panel: of the run, the layout and the window. Drawing thread only.
#include <functional>
#include <memory>
#include <vector>

#include "ui/app/regions.h"
#include "ui/workbench/key_sheet.h"
#include "ui/workbench/palette.h"

namespace lunagrad {

// What these commands act on beside the workbench. All of it outlives the workbench's commands.
struct WindowParts {
  Palette& palette;
  KeySheet& key_sheet;
  Regions& regions;
  const std::vector<std::unique_ptr<Panel>>& panels;
  std::function<void()> set_next_run;  // opens the settings of the next run
  std::function<void()> close;
};

void add_window_commands(Workbench&, const WindowParts&);

}  // namespace lunagrad
