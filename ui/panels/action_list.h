#pragma once
// The tab of the console that lists the user's actions in the window: a line of Lua for each action, with its
// time. Lines can be copied, and all of them saved as a script for --drive. Drawing thread only.
#include <string>

#include "ui/text/log_view.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class ActionList {
 public:
  void draw_tools(Workbench&);
  void draw(Workbench&);

 private:
  void draw_save(Workbench&);
  LogView view_;
  char path_[512] = "";
  std::string line_;  // the text of the last requested line
};

}  // namespace lunagrad
