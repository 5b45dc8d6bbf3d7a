#pragma once
// The window that compares two runs: their settings, and a diff of their scripts. Drawing thread only.
#include "ui/runs/comparison.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

class ComparisonWindow {
 public:
  void open(RunComparison comparison) {
    comparison_ = std::move(comparison);
    open_ = true;
  }
  void draw(Workbench&);

 private:
  void draw_config_difference(Workbench&);
  void draw_code_difference(Workbench&);

  RunComparison comparison_;
  bool open_ = false;
};

}  // namespace lunagrad
