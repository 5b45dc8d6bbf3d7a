#pragma once
// The input of a GLFW window, fed to Dear ImGui a frame's worth at a time. Modifiers are those that the
// events carry: the display keeps the release of a key to itself when its window manager took the key, as
// after a cancelled Alt+F4. Owns the queue; GLFW's callbacks of the window are its own. Drawing thread only.
#include "ui/window/input_queue.h"

struct GLFWwindow;

namespace lunagrad {

class DisplayInput {
 public:
  explicit DisplayInput(GLFWwindow*);  // one at a time, while the window exists
  ~DisplayInput();
  DisplayInput(const DisplayInput&) = delete;

  bool queued() const { return !queue_.empty(); }
  // Gives Dear ImGui the events of one frame; between the backend's new frame and Dear ImGui's.
  void play_frame();
  // Whether anything arrived since the last call: input, a resize, a demand to draw.
  bool arrived();
  bool scale_changed();  // the monitor's, since the last call

 private:
  static DisplayInput* current;
  void note(const InputEvent&);
  void play(const InputEvent&);

  GLFWwindow* window_;
  InputQueue queue_;
  float x_ = -1e6f, y_ = -1e6f;  // where Dear ImGui saw the mouse last
  bool down_[5] = {};
  bool arrived_ = false, scale_changed_ = false;
};

}  // namespace lunagrad
