#pragma once
// The workbench program: a Window, a Workbench, the panels in their regions, the keys, and the loop that
// draws only when there is something new. Drawing thread only.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ui/drive.h"
#include "ui/panel.h"
#include "ui/window.h"

namespace lunagrad {

class App {
 public:
  struct Options {
    std::string script;
    RunOptions run;
    Window::Options window;
    std::string drive;                         // a Lua script, see drive.h,
    std::vector<std::string> drive_arguments;  // and its arg[1…]
  };
  // Throws Error (kind device) when there is no window to be had.
  explicit App(Options);
  ~App();
  // Until the window is closed or the drive has ended. Returns the exit code: 1 for a failed drive or a
  // message of Vulkan's validation.
  int loop();

 private:
  using Clock = std::chrono::steady_clock;
  void draw_frame();
  void draw_content();
  void draw_region(const char* id, const std::vector<Panel*>&, ImVec2 at, ImVec2 size, size_t& tab);
  void splitter(const char* id, ImVec2 at, ImVec2 size, bool vertical, float& share, float whole);
  void handle_keys();

  Window window_;
  Workbench bench_;
  std::vector<std::unique_ptr<Panel>> panels_;
  std::unique_ptr<Drive> drive_;
  float columns_ = 0.45f, left_rows_ = 0.64f, right_rows_ = 0.54f;  // shares of the first part
  size_t tabs_[5] = {};                                             // of each region, and of the only one
};

}  // namespace lunagrad
