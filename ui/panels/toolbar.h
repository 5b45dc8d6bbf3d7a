#pragma once
// The row over the panels: the run's controls and state, how far it is, what it runs with, the layout and a
// menu of everything else. What a narrow window has no room for is in that menu. Drawing thread only.
#include "ui/base/device_list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Toolbar {
 public:
  // `wake` asks for a new frame, on any thread.
  explicit Toolbar(std::function<void()> wake) : wake_(std::move(wake)) {}
  void draw(Workbench&);

 private:
  void draw_run_settings(Workbench&);
  void draw_menu(Workbench&, const std::vector<std::string>& left_out);

  std::function<void()> wake_;
  DeviceList devices_;
  char seed_[24] = "", arguments_[512] = "", layout_name_[64] = "";
};

}  // namespace lunagrad
