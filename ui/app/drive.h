#pragma once
// Plays a user from a Lua script: feeds mouse and keys, waits for what is shown, checks it, and takes
// pictures. NAME and TEXT mean the first item of the Description called NAME whose text contains TEXT (any,
// without). Functions of the script's table `ui`:
//   wait(NAME, TEXT, seconds)     until such an item is shown; fails after 60 s, or those
//   expect(NAME, TEXT)            fails if none is shown;   absent(NAME, TEXT)  fails if one is
//   click(NAME, TEXT, "Ctrl")     in its middle, with the keys held;  right_click, double_click likewise
//   hover(NAME, TEXT)             drag(NAME, [TEXT,] dx, dy)  from its middle;  wheel(NAME, [TEXT,] notches)
//   key("Ctrl+Shift+P")           as drive_keys.h names them;  type(text)  into what has the focus
//   frames(n) · seconds(s) · resize(width, height) · theme("dark" or "light") · picture(FILE.png) · quit()
//   frame_rate(n)                 frames a second at most, 60 without; 0: as fast as they come
//   texts(NAME) -> list of texts  rect(NAME, TEXT) -> x, y, width, height
//   frame_time() -> ms of CPU that building the last frame took, without the driver's drawing
//   memory("resident" or "heap") -> bytes of the process, or in use of what malloc gave it
//   real_input()                  from here on the mouse and keyboard are the display's
// A failure is a Lua error that says what is shown instead. arg[1…] are the drive's arguments. Drawing thread
// only.
#include <imgui.h>

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "script/lua/drive_script.h"
#include "ui/base/description.h"
#include "ui/window/window.h"

namespace lunagrad {

class Drive {
 public:
  Drive(const std::string& path, const std::vector<std::string>& arguments, Window&);  // as DriveScript
  void inject();                         // between the backend's new frame and Dear ImGui's
  bool after_frame(const Description&);  // true: the drive has ended
  // Of a frame, at least: none while input is played.
  double frame_seconds() const { return steps_.empty() ? frame_seconds_ : 0; }
  // Whether this frame is to be drawn. A driver that draws on the CPU would take most of a drive's time: of
  // its frames every fourth is, and those of pictures.
  bool shows_frame();
  bool failed() const { return failed_; }

 private:
  using Values = DriveScript::Values;
  using Poll = DriveScript::Poll;
  struct Target {
    std::string name, text;
  };
  std::map<std::string, DriveScript::Function> functions();
  void add_checks(std::map<std::string, DriveScript::Function>&);
  void add_input(std::map<std::string, DriveScript::Function>&);
  void add_window(std::map<std::string, DriveScript::Function>&);

  Target target(const Values&) const;
  const Description::Item* find(const Target&) const;
  std::string instead(const Target&) const;  // what is shown where the target is not
  ImVec2 middle(const Target&) const;        // throws when it is not shown, or not within the window
  void next_frame(std::function<void()> act = [] {});
  void press_button(ImGuiMouseButton, bool down);
  Poll click(const Values&, ImGuiMouseButton, int times);
  Poll played() const;  // done when all steps are

  Window& window_;
  const Description* shown_ = nullptr;       // during after_frame
  std::deque<std::function<void()>> steps_;  // one a frame
  ImVec2 mouse_{-1000, -1000};
  bool down_[3] = {};
  double frame_seconds_ = 1.0 / 60;
  int frames_ = 0;
  bool real_input_ = false, failed_ = false, quit_ = false;
  DriveScript script_;  // last: its functions use the others
};

}  // namespace lunagrad
