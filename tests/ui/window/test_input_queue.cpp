#include <GLFW/glfw3.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ui/window/input_queue.h"

namespace lunagrad {
namespace {

using Kind = InputEvent::Kind;

InputEvent key(int code, bool down, bool is_modifier = false) {
  InputEvent event;
  event.kind = Kind::key;
  event.code = code;
  event.down = down;
  event.is_modifier = is_modifier;
  return event;
}

InputEvent button(bool down) {
  InputEvent event;
  event.kind = Kind::button;
  event.down = down;
  return event;
}

InputEvent move(float x) {
  InputEvent event;
  event.x = x;
  return event;
}

InputEvent text(unsigned character) {
  InputEvent event;
  event.kind = Kind::text;
  event.character = character;
  return event;
}

// The kinds of the events of each frame, a letter each: m k b t.
std::vector<std::string> frames(std::initializer_list<InputEvent> events) {
  InputQueue queue;
  for (const InputEvent& event : events) queue.push(event);
  std::vector<std::string> all;
  while (!queue.empty()) {
    std::string& frame = all.emplace_back();
    for (const InputEvent& event : queue.take_frame()) {
      const char letter = "mlbwktf"[int(event.kind)];
      frame += event.kind == Kind::key || event.kind == Kind::button
                   ? char(event.down ? letter - 'a' + 'A' : letter)
                   : letter;
    }
  }
  return all;
}

using Frames = std::vector<std::string>;

TEST_CASE("input queue: a press and its release are seen in different frames") {
  CHECK(frames({key('A', true), key('A', false), key('A', true), key('A', false)}) ==
        Frames{"K", "k", "K", "k"});
  CHECK(frames({button(true), button(false), button(true)}) == Frames{"B", "b", "B"});
}

TEST_CASE("input queue: moves become one, and a button is pressed where the mouse has arrived") {
  CHECK(frames({move(1), move(2), move(3)}) == Frames{"m"});
  CHECK(frames({move(1), button(true), move(2), move(3), button(false)}) == Frames{"m", "B", "m", "b"});
}

TEST_CASE("input queue: a character comes with its key, and keys in their order") {
  CHECK(frames({key('A', true), text('a'), key('A', false), key('B', true), text('b'), key('B', false)}) ==
        Frames{"Kt", "kKt", "k"});
  CHECK(frames({key('A', true), text('a'), key(GLFW_KEY_BACKSPACE, true)}) == Frames{"Kt", "K"});
  CHECK(frames({text('a'), text('b'), key(GLFW_KEY_ENTER, true)}) == Frames{"tt", "K"});
}

TEST_CASE("input queue: a chord is one frame, and its modifier is held until then") {
  CHECK(frames({key(GLFW_KEY_LEFT_CONTROL, true, true), key('S', true), key('S', false),
                key(GLFW_KEY_LEFT_CONTROL, false, true)}) == Frames{"KK", "kk"});
  CHECK(frames({key(GLFW_KEY_LEFT_CONTROL, true, true), button(true), button(false),
                key(GLFW_KEY_LEFT_CONTROL, false, true), button(true)}) == Frames{"KB", "b", "kB"});
}

}  // namespace
}  // namespace lunagrad
