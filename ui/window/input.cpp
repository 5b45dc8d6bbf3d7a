#include "ui/window/input.h"

#include "ui/window/glfw.h"

#if IMGUI_VERSION_NUM >= 18700

#include <imgui_internal.h>

#include <utility>

namespace lunagrad {
namespace {

constexpr std::pair<int, ImGuiKey> kNamed[] = {
    {GLFW_KEY_TAB, ImGuiKey_Tab},
    {GLFW_KEY_LEFT, ImGuiKey_LeftArrow},
    {GLFW_KEY_RIGHT, ImGuiKey_RightArrow},
    {GLFW_KEY_UP, ImGuiKey_UpArrow},
    {GLFW_KEY_DOWN, ImGuiKey_DownArrow},
    {GLFW_KEY_PAGE_UP, ImGuiKey_PageUp},
    {GLFW_KEY_PAGE_DOWN, ImGuiKey_PageDown},
    {GLFW_KEY_HOME, ImGuiKey_Home},
    {GLFW_KEY_END, ImGuiKey_End},
    {GLFW_KEY_INSERT, ImGuiKey_Insert},
    {GLFW_KEY_DELETE, ImGuiKey_Delete},
    {GLFW_KEY_BACKSPACE, ImGuiKey_Backspace},
    {GLFW_KEY_SPACE, ImGuiKey_Space},
    {GLFW_KEY_ENTER, ImGuiKey_Enter},
    {GLFW_KEY_ESCAPE, ImGuiKey_Escape},
    {GLFW_KEY_LEFT_CONTROL, ImGuiKey_LeftCtrl},
    {GLFW_KEY_LEFT_SHIFT, ImGuiKey_LeftShift},
    {GLFW_KEY_LEFT_ALT, ImGuiKey_LeftAlt},
    {GLFW_KEY_MENU, ImGuiKey_Menu},
    {GLFW_KEY_PAUSE, ImGuiKey_Pause},
    {GLFW_KEY_KP_ENTER, ImGuiKey_KeypadEnter},
    {GLFW_KEY_APOSTROPHE, ImGuiKey_Apostrophe},
    {GLFW_KEY_COMMA, ImGuiKey_Comma},
    {GLFW_KEY_MINUS, ImGuiKey_Minus},
    {GLFW_KEY_PERIOD, ImGuiKey_Period},
    {GLFW_KEY_SLASH, ImGuiKey_Slash},
    {GLFW_KEY_SEMICOLON, ImGuiKey_Semicolon},
    {GLFW_KEY_EQUAL, ImGuiKey_Equal},
    {GLFW_KEY_LEFT_BRACKET, ImGuiKey_LeftBracket},
    {GLFW_KEY_BACKSLASH, ImGuiKey_Backslash},
    {GLFW_KEY_RIGHT_BRACKET, ImGuiKey_RightBracket},
    {GLFW_KEY_GRAVE_ACCENT, ImGuiKey_GraveAccent},
};

ImGuiKey named(int key) {
  const auto within = [key](int first, int last, ImGuiKey from) {
    return key >= first && key <= last ? ImGuiKey(from + key - first) : ImGuiKey_None;
  };
  if (const ImGuiKey letter = within(GLFW_KEY_A, GLFW_KEY_Z, ImGuiKey_A)) return letter;
  if (const ImGuiKey digit = within(GLFW_KEY_0, GLFW_KEY_9, ImGuiKey_0)) return digit;
  if (const ImGuiKey function = within(GLFW_KEY_F1, GLFW_KEY_F24, ImGuiKey_F1)) return function;
  for (const auto& [number, name] : kNamed)
    if (number == key) return name;
  return ImGuiKey_None;
}

}  // namespace

bool key_pressed(int key, bool repeat) {
  const ImGuiKey name = named(key);
  return name != ImGuiKey_None && ImGui::IsKeyPressed(name, repeat);
}

HiddenKey::HiddenKey(int key) : key_(key) {
  if (const ImGuiKey name = named(key_); name != ImGuiKey_None)
    duration_ = std::exchange(ImGui::GetKeyData(name)->DownDuration, -1.0f);
}

HiddenKey::~HiddenKey() {
  if (const ImGuiKey name = named(key_); name != ImGuiKey_None)
    ImGui::GetKeyData(name)->DownDuration = duration_;
}

void play_key(int key, bool down) {
  if (const ImGuiKey name = named(key)) ImGui::GetIO().AddKeyEvent(name, down);
}

void play_modifiers(bool ctrl, bool shift, bool alt, bool down) {
  const auto hold = [down](int key, ImGuiKey modifier) {
    play_key(key, down);
    ImGui::GetIO().AddKeyEvent(modifier, down);
  };
  if (ctrl) hold(GLFW_KEY_LEFT_CONTROL, ImGuiMod_Ctrl);
  if (shift) hold(GLFW_KEY_LEFT_SHIFT, ImGuiMod_Shift);
  if (alt) hold(GLFW_KEY_LEFT_ALT, ImGuiMod_Alt);
}

void play_mouse(ImVec2 at) { ImGui::GetIO().AddMousePosEvent(at.x, at.y); }
void play_button(ImGuiMouseButton button, bool down) { ImGui::GetIO().AddMouseButtonEvent(button, down); }
void play_wheel(float notches, float sideways) { ImGui::GetIO().AddMouseWheelEvent(sideways, notches); }

void play_modifier_state(bool ctrl, bool shift, bool alt, bool super) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
  io.AddKeyEvent(ImGuiMod_Super, super);
}

void play_at_once(bool at_once) { ImGui::GetIO().ConfigInputTrickleEventQueue = !at_once; }

void keep_ctrl_tab() {
  ImGuiContext& context = *ImGui::GetCurrentContext();
  context.ConfigNavWindowingKeyNext = context.ConfigNavWindowingKeyPrev = 0;
}

}  // namespace lunagrad

#else

#include <utility>

namespace lunagrad {

bool key_pressed(int key, bool repeat) { return ImGui::IsKeyPressed(key, repeat); }

// Keyboard navigation keeps its own durations of the keys that end an input.
static int navigation_input(int key) {
  return key == GLFW_KEY_ESCAPE ? ImGuiNavInput_Cancel : key == GLFW_KEY_ENTER ? ImGuiNavInput_Input : -1;
}

HiddenKey::HiddenKey(int key) : key_(key) {
  if (key_ == 0) return;
  ImGuiIO& io = ImGui::GetIO();
  duration_ = std::exchange(io.KeysDownDuration[key_], -1.0f);
  if (const int input = navigation_input(key_); input >= 0)
    navigation_ = std::exchange(io.NavInputsDownDuration[input], -1.0f);
}

HiddenKey::~HiddenKey() {
  if (key_ == 0) return;
  ImGuiIO& io = ImGui::GetIO();
  io.KeysDownDuration[key_] = duration_;
  if (const int input = navigation_input(key_); input >= 0) io.NavInputsDownDuration[input] = navigation_;
}

void play_key(int key, bool down) { ImGui::GetIO().KeysDown[key] = down; }

void play_modifiers(bool ctrl, bool shift, bool alt, bool down) {
  ImGuiIO& io = ImGui::GetIO();
  if (ctrl) io.KeyCtrl = io.KeysDown[GLFW_KEY_LEFT_CONTROL] = down;
  if (shift) io.KeyShift = io.KeysDown[GLFW_KEY_LEFT_SHIFT] = down;
  if (alt) io.KeyAlt = io.KeysDown[GLFW_KEY_LEFT_ALT] = down;
}

void play_mouse(ImVec2 at) { ImGui::GetIO().MousePos = at; }
void play_button(ImGuiMouseButton button, bool down) { ImGui::GetIO().MouseDown[button] = down; }

void play_wheel(float notches, float sideways) {
  ImGui::GetIO().MouseWheel += notches;
  ImGui::GetIO().MouseWheelH += sideways;
}

void play_modifier_state(bool ctrl, bool shift, bool alt, bool super) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = ctrl;
  io.KeyShift = shift;
  io.KeyAlt = alt;
  io.KeySuper = super;
}

void play_at_once(bool) {}

void keep_ctrl_tab() {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyMap[ImGuiKey_Tab] = io.KeyCtrl ? -1 : GLFW_KEY_TAB;
}

}  // namespace lunagrad

#endif
