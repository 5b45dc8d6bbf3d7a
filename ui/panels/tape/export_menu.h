#pragma once
// The button that exports the tape to a file: format, path and result. Drawing thread only.
#include <functional>
#include <string>

#include "ui/graph/canvas.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TapeExportMenu {
 public:
  // ui.export_tape(path), by the extension of the path. `colors` are those of the sheet. Called once.
  void add_action(Workbench&, std::function<GraphCanvas::Colors()> colors);
  void draw(Workbench&);
  // Takes the picture that the menu asked for, once the menu is closed: of that part of the window.
  void take_picture(Workbench&, ImVec2 min, ImVec2 max);

 private:
  void open(const Workbench&);
  void write(Workbench&, const std::string& file, const std::string& content);
  char path_[512] = "";
  std::string outcome_;
  std::string wanted_picture_;  // its path
};

}  // namespace lunagrad
