#pragma once
// Mouse and keyboard events in the order of their arrival, given out one frame's portion at a time. Dear
// ImGui up to 1.86 sees only the state at a frame: a press and its release in one frame would be lost, and
// the order of two keys too. Pure; drawing thread only.
#include <cstdint>
#include <deque>
#include <vector>

namespace lunagrad {

struct InputEvent {
  enum class Kind { move, leave, button, wheel, key, text, focus } kind = Kind::move;
  int code = 0;              // the mouse button, or GLFW's number of the key
  bool down = false;         // for a button or key; for `focus`: gained
  float x = 0, y = 0;        // for `move`: the position; for `wheel`: notches
  unsigned character = 0;    // for `text`
  int modifiers = 0;         // for a button or key: modifiers held after the event, as GLFW's bits
  bool is_modifier = false;  // the key is Ctrl, Shift, Alt or Super
};
using InputKind = InputEvent::Kind;

class InputQueue {
 public:
  // Consecutive moves are merged into one.
  void push(const InputEvent&);
  bool empty() const { return events_.empty(); }
  // Removes and returns the events of the next frame, in order: at most one key press, no press together with
  // its release, a single set of modifiers, a single place of the mouse.
  std::vector<InputEvent> take_frame();

 private:
  std::deque<InputEvent> events_;
};

}  // namespace lunagrad
