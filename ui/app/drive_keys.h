#pragma once
// Keys by name, as in a drive: "F5", "Ctrl+Shift+P", "Alt+Left", "Ctrl+/". Pure.
#include <optional>
#include <string_view>

namespace lunagrad {

struct KeyPress {
  int key = 0;  // GLFW's number
  bool ctrl = false, shift = false, alt = false;
};

// Parses modifiers in any order, then a key of a US keyboard. Returns nothing if the name is unknown.
std::optional<KeyPress> key_press(std::string_view name);

}  // namespace lunagrad
