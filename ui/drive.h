#pragma once
// Plays a user from a file: feeds mouse and keys, waits for what is shown, checks it, and takes pictures. One
// command a line, # starts a comment, NAME and TEXT mean an item of the Description whose text contains TEXT:
//   wait NAME [TEXT]      until such an item is shown; fails after 60 s
//   expect NAME [TEXT]    fails if none is shown;   absent NAME [TEXT]  fails if one is
//   click NAME [TEXT]     in its middle;            hover NAME [TEXT]
//   drag NAME DX DY       from its middle;          wheel NAME NOTCHES
//   key [Ctrl+|Shift+]K   K: F1…F12, Enter, Escape, Up, Down or a letter
//   type TEXT             into what has the focus
//   frames N · seconds S · resize WIDTH HEIGHT · theme dark|light · picture FILE · quit
// A failure says line, command and what is shown instead. Drawing thread only.
#include <imgui.h>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "ui/description.h"
#include "ui/window.h"

namespace lunagrad {

class Drive {
 public:
  Drive(const std::string& path, Window&);  // Error (kind file) when it cannot be read
  void inject();                            // between the backend's new frame and Dear ImGui's
  bool after_frame(const Description&);     // true: the drive has ended
  bool failed() const { return failed_; }

 private:
  struct Command {
    int line;
    std::string verb, name, text;
  };
  void start(const Command&, const Description&);
  void fail(const Command&, const std::string& why, const Description&);
  const Description::Item* find(const Description&, const Command&) const;
  void press_key(const Command&, const Description&);

  std::string path_;
  Window& window_;
  std::vector<Command> commands_;
  size_t next_ = 0;
  std::deque<std::function<void(ImGuiIO&)>> steps_;  // one a frame
  std::chrono::steady_clock::time_point began_, sleep_until_;
  bool waiting_ = false, failed_ = false, done_ = false;
  ImVec2 mouse_{-1000, -1000};
  bool down_ = false;
};

}  // namespace lunagrad
