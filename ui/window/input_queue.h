#pragma once
// Mouse and keyboard events in the order of their arrival, handed out a frame's worth at a time: Dear ImGui
// up to 1.86 sees only the state at a frame, so a press and its release in one frame would be lost, and so
// would the order of two keys. Pure; drawing thread only.
#include <cstdint>
#include <deque>
#include <vector>

namespace lunagrad {

struct InputEvent {
  enum class Kind { move, leave, button, wheel, key, text, focus } kind = Kind::move;
  int code = 0;              // the mouse button, or GLFW's number of the key
  bool down = false;         // of a button or key; of `focus`: gained
  float x = 0, y = 0;        // of `move`: the position; of `wheel`: notches
  unsigned character = 0;    // of `text`
  int modifiers = 0;         // of a button or key: those held after the event, as GLFW's bits
  bool is_modifier = false;  // the key is Ctrl, Shift, Alt or Super
};

class InputQueue {
 public:
  // Moves that follow each other become one.
  void push(const InputEvent&);
  bool empty() const { return events_.empty(); }
  // Removes and returns the events of the next frame, in order: at most one press of a key, no press together
  // with its release, one set of modifiers, the mouse at one place.
  std::vector<InputEvent> take_frame();

 private:
  std::deque<InputEvent> events_;
};

}  // namespace lunagrad
