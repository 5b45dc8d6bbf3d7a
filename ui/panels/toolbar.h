#pragma once
// The row above the panels: the run's controls, state and progress, the settings of the next run, the layout,
// and a menu with everything else, including the items that do not fit into a narrow window. Drawing thread
// only.
#include "ui/base/device_list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Toolbar {
 public:
  // `wake` requests a new frame; it is called on any thread.
  explicit Toolbar(std::function<void()> wake) : wake_(std::move(wake)) {}
  void draw(Workbench&);
  // In the next frame, also where their button has no room.
  void open_run_settings() { opens_settings_ = true; }

 private:
  void draw_run_settings(Workbench&);
  void read_run_settings(Workbench&);
  void draw_menu(Workbench&, const std::vector<std::string>& left_out);

  std::function<void()> wake_;
  DeviceList devices_;
  char seed_[24] = "", arguments_[512] = "", layout_name_[64] = "";
  bool opens_settings_ = false;
};

}  // namespace lunagrad
