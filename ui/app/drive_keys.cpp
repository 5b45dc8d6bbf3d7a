#include "ui/app/drive_keys.h"

#include <GLFW/glfw3.h>

#include <charconv>

namespace lunagrad {
namespace {

constexpr struct {
  std::string_view name;
  int key;
} kNamed[] = {
    {"Enter", GLFW_KEY_ENTER},    {"Escape", GLFW_KEY_ESCAPE},
    {"Tab", GLFW_KEY_TAB},        {"Backspace", GLFW_KEY_BACKSPACE},
    {"Delete", GLFW_KEY_DELETE},  {"Insert", GLFW_KEY_INSERT},
    {"Home", GLFW_KEY_HOME},      {"End", GLFW_KEY_END},
    {"PageUp", GLFW_KEY_PAGE_UP}, {"PageDown", GLFW_KEY_PAGE_DOWN},
    {"Left", GLFW_KEY_LEFT},      {"Right", GLFW_KEY_RIGHT},
    {"Up", GLFW_KEY_UP},          {"Down", GLFW_KEY_DOWN},
    {"Space", GLFW_KEY_SPACE},    {"Menu", GLFW_KEY_MENU},
    {"Pause", GLFW_KEY_PAUSE},    {"KeypadEnter", GLFW_KEY_KP_ENTER},
};
// GLFW's numbers of these keys are their ASCII codes.
constexpr std::string_view kPrinted = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',-./;=[\\]`";

int key_code(std::string_view name) {
  if (name.size() == 1 && kPrinted.find(name[0]) != kPrinted.npos) return name[0];
  for (const auto& named : kNamed)
    if (name == named.name) return named.key;
  int number = 0;
  if (name.size() < 2 || name[0] != 'F') return GLFW_KEY_UNKNOWN;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 1 || number > 25)
    return GLFW_KEY_UNKNOWN;
  return GLFW_KEY_F1 + number - 1;
}

bool take(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<KeyPress> key_press(std::string_view name) {
  KeyPress press;
  for (;;) {
    if (take(name, "Ctrl+"))
      press.ctrl = true;
    else if (take(name, "Shift+"))
      press.shift = true;
    else if (take(name, "Alt+"))
      press.alt = true;
    else
      break;
  }
  press.key = key_code(name);
  if (press.key == GLFW_KEY_UNKNOWN) return std::nullopt;
  return press;
}

}  // namespace lunagrad
