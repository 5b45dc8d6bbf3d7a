#pragma once
// The button that exports the tape to a file: format, path and result. Drawing thread only.
#include <functional>
#include <string>

#include "ui/graph/canvas.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TapeExportMenu {
 public:
  // Adds ui.export_tape(path); the extension of the path selects the format. `colors` returns the sheet's
  // colours. Call once.
  void add_action(Workbench&, std::function<GraphCanvas::Colors()> colors);
  void draw(Workbench&);
  void open_soon() { opens_ = true; }  // with the next draw()
  // Takes the picture that the menu requested, once the menu is closed; `min` and `max` bound that part of
  // the window.
  void take_picture(Workbench&, ImVec2 min, ImVec2 max);

 private:
  void open(const Workbench&);
  void write(Workbench&, const std::string& file, const std::string& content);
  bool opens_ = false;
  char path_[512] = "";
  std::string outcome_;
  std::string wanted_picture_;  // path of the requested picture
};

}  // namespace lunagrad
