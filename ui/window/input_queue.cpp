#include "ui/window/input_queue.h"

#include <algorithm>

namespace lunagrad {
namespace {

using Kind = InputEvent::Kind;

bool is_press(const InputEvent& event) { return event.kind == Kind::key && event.down && !event.is_modifier; }

// Whether the effect of the event depends on the held modifiers.
bool is_action(const InputEvent& event) {
  return is_press(event) || event.kind == Kind::button || event.kind == Kind::wheel;
}

// Whether two events may not share a frame. `earlier` arrived first.
bool collide(const InputEvent& earlier, const InputEvent& later) {
  const bool same_thing = earlier.kind == later.kind && earlier.code == later.code;
  switch (later.kind) {
    case Kind::move:
    case Kind::leave:
      return earlier.kind == Kind::button || earlier.kind == Kind::wheel || earlier.kind != later.kind;
    case Kind::button:  // an item must see the mouse before the press
      return earlier.kind != Kind::key || is_action(earlier);
    case Kind::wheel:
      return earlier.kind != Kind::wheel && (earlier.kind != Kind::key || is_action(earlier));
    case Kind::key:
      if (later.is_modifier) return is_action(earlier) || same_thing;
      return same_thing || earlier.kind == Kind::button || earlier.kind == Kind::wheel ||
             (later.down && (is_press(earlier) || earlier.kind == Kind::text));
    case Kind::text:  // text follows its key; an input method sends several texts
      return earlier.kind == Kind::button || earlier.kind == Kind::wheel;
    case Kind::focus:
      return true;
  }
  return true;
}

}  // namespace

void InputQueue::push(const InputEvent& event) {
  if (event.kind == Kind::move && !events_.empty() && events_.back().kind == Kind::move)
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
