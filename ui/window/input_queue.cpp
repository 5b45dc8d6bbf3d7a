#include "ui/window/input_queue.h"

#include <algorithm>

namespace lunagrad {
namespace {

bool is_press(const InputEvent& event) {
  return event.kind == InputKind::key && event.down && !event.is_modifier;
}

// Whether the effect of the event depends on the held modifiers.
bool is_action(const InputEvent& event) {
  return is_press(event) || event.kind == InputKind::button || event.kind == InputKind::wheel;
}

// Whether two events may not share a frame. `earlier` arrived first.
bool collide(const InputEvent& earlier, const InputEvent& later) {
  const bool same_thing = earlier.kind == later.kind && earlier.code == later.code;
  switch (later.kind) {
    case InputKind::move:
    case InputKind::leave:
      return earlier.kind == InputKind::button || earlier.kind == InputKind::wheel ||
             earlier.kind != later.kind;
    case InputKind::button:  // an item must see the mouse before the press
      return earlier.kind != InputKind::key || is_action(earlier);
    case InputKind::wheel:
      return earlier.kind != InputKind::wheel && (earlier.kind != InputKind::key || is_action(earlier));
    case InputKind::key:
      if (later.is_modifier) return is_action(earlier) || same_thing;
      return same_thing || earlier.kind == InputKind::button || earlier.kind == InputKind::wheel ||
             (later.down && (is_press(earlier) || earlier.kind == InputKind::text));
    case InputKind::text:  // text follows its key; an input method sends several texts
      return earlier.kind == InputKind::button || earlier.kind == InputKind::wheel;
    case InputKind::focus:
      return true;
  }
  return true;
}

}  // namespace

void InputQueue::push(const InputEvent& event) {
  if (event.kind == InputKind::move && !events_.empty() && events_.back().kind == InputKind::move)
    events_.back() = event;
  else
    events_.push_back(event);
}

std::vector<InputEvent> InputQueue::take_frame() {
  std::vector<InputEvent> frame;
  while (!events_.empty()) {
    const InputEvent& next = events_.front();
    if (std::any_of(frame.begin(), frame.end(),
                    [&](const InputEvent& earlier) { return collide(earlier, next); }))
      break;
    frame.push_back(next);
    events_.pop_front();
  }
  return frame;
}

}  // namespace lunagrad
