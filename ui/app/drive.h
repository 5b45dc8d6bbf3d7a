#pragma once
// Simulates a user from a Lua script (a drive): sends mouse and keys, waits for items, checks them, and takes
// pictures. NAME and TEXT mean the first item of the Description called NAME whose text contains TEXT (any
// item without TEXT). Functions of the script's table `ui`:
//   wait(NAME, TEXT, seconds)     until such an item is shown; fails after `seconds`, by default 60
//   expect(NAME, TEXT)            fails if none is shown;   absent(NAME, TEXT)  fails if one is
//   click(NAME, TEXT, "Ctrl")     at its center, with the keys held;  also right_click, double_click
//   hover(NAME, TEXT)             without a name the mouse leaves the window
//   drag(NAME, [TEXT,] dx, dy)    from its center;  wheel(NAME, [TEXT,] notches)
//   key("Ctrl+Shift+P")           names as in drive_keys.h;  type(text)  into the focused field
//   frames(n) · seconds(s) · resize(width, height) · theme("dark" or "light") · picture(FILE.png) · quit()
//   frame_rate(n)                 limits frames per second, by default 60; 0: no limit
//   texts(NAME) -> list of texts  rect(NAME, TEXT) -> x, y, width, height
//   frame_time() -> ms of CPU time for building the last frame, without the driver's drawing
//   memory("resident" or "heap") -> bytes of the process, or bytes in use in malloc's heap
//   every action of the window (ui/record/actions.h), as ui.set_param("lr", 0.01), when it is possible
//   reach{state =, step =, pauses =, ended =}  until the run is as far as it was when a line was recorded
//   real_input()                  uses the display's mouse and keyboard from here on
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
#include "ui/workbench/workbench.h"

namespace lunagrad {

class Drive {
 public:
  // Throws Error (kind file) when the file cannot be read. All actions must have been added.
  Drive(const std::string& path, const std::vector<std::string>& arguments, Window&, Workbench&);
  void inject();                         // call between the backend's new frame and Dear ImGui's
  bool after_frame(const Description&);  // true: the drive has ended
  // Minimum duration of a frame: 0 while input is played.
  double frame_seconds() const { return steps_.empty() ? frame_seconds_ : 0; }
  // Whether to draw this frame. A driver that draws on the CPU would take most of a drive's time, so only
  // every fourth frame is drawn, and frames whose picture is taken.
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
  std::string instead(const Target&) const;  // the text of an error: what is shown instead of the target
  ImVec2 middle(const Target&) const;        // throws if it is not shown, or not within the window
  void next_frame(std::function<void()> act = [] {});
  void press_button(ImGuiMouseButton, bool down);
  Poll click(const Values&, ImGuiMouseButton, int times);
  Poll played() const;  // done when all steps_ are played

  Window& window_;
  Workbench& bench_;
  const Description* shown_ = nullptr;       // set during after_frame
  std::deque<std::function<void()>> steps_;  // one per frame
  ImVec2 mouse_{-1000, -1000};
  bool down_[3] = {};
  double frame_seconds_ = 1.0 / 60;
  int frames_ = 0;
  bool real_input_ = false, failed_ = false, quit_ = false;
  DriveScript script_;  // last: its functions use the other members
};

}  // namespace lunagrad
