#pragma once
// The input of a GLFW window, given to Dear ImGui one frame's portion at a time. Modifiers come from the
// events: when a window manager takes a key, the display does not report the key's release, for example after
// a cancelled Alt+F4. Owns the queue; it sets the window's GLFW callbacks. Drawing thread only.
#include "ui/window/input_queue.h"

struct GLFWwindow;

namespace lunagrad {

class DisplayInput {
 public:
  explicit DisplayInput(GLFWwindow*);  // one object at a time, while the window exists
  ~DisplayInput();
  DisplayInput(const DisplayInput&) = delete;

  bool queued() const { return !queue_.empty(); }
  // Gives Dear ImGui the events of one frame; call between the backend's new frame and Dear ImGui's.
  void play_frame();
  // Whether anything arrived since the last call: input, a resize, a request to draw.
  bool arrived();
  bool scale_changed();  // the monitor's scale changed since the last call

 private:
  static DisplayInput* current;
  void note(const InputEvent&);
  void play(const InputEvent&);

  GLFWwindow* window_;
  InputQueue queue_;
  float x_ = -1e6f, y_ = -1e6f;  // the last mouse position given to Dear ImGui
  bool down_[5] = {};
  bool arrived_ = false, scale_changed_ = false;
};

}  // namespace lunagrad
