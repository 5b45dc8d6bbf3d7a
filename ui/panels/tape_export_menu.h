#pragma once
// The button that writes the tape into a file: its kind, its path, and what came of it. Drawing thread only.
#include <functional>
#include <string>

#include "ui/graph/canvas.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TapeExportMenu {
 public:
  void draw(Workbench&, const GraphCanvas::Colors&);
  // Carries out what the menu was asked for once it is gone from the screen: a picture of that part of it.
  void take_picture(Workbench&, ImVec2 min, ImVec2 max);

 private:
  void open(const Workbench&);
  void attempt(Workbench&, const std::string& file, const std::function<std::string()>& content);
  char path_[512] = "";
  std::string outcome_;
  std::string wanted_picture_;  // its path
};

}  // namespace lunagrad
