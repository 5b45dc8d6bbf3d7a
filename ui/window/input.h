#pragma once
// Keys by GLFW's numbers, and simulated input, for both interfaces of Dear ImGui: up to 1.86 arrays indexed
// by GLFW's numbers, since 1.87 events with Dear ImGui's own key names. Drawing thread only.
#include <imgui.h>

namespace lunagrad {

bool key_pressed(int key, bool repeat = true);

// While the object lives, Dear ImGui's widgets do not see that the key is pressed. For a field that handles a
// key itself with which Dear ImGui would end the input. 0: no key.
class HiddenKey {
 public:
  explicit HiddenKey(int key);
  ~HiddenKey();
  HiddenKey(const HiddenKey&) = delete;

 private:
  int key_;                              // GLFW's number
  float duration_ = 0, navigation_ = 0;  // seconds for which it has been pressed; the second before 1.87
};

// Simulates the user's input; call between the backend's new frame and Dear ImGui's.
void play_key(int key, bool down);
void play_modifiers(bool ctrl, bool shift, bool alt, bool down);  // presses or releases those that are true
void play_mouse(ImVec2 at);
void play_button(ImGuiMouseButton, bool down);
void play_wheel(float notches, float sideways = 0);
void play_modifier_state(bool ctrl, bool shift, bool alt, bool super);  // sets the state of all four
// Whether all input of a frame takes effect in that frame. By default Dear ImGui spreads fast input over
// several frames, which breaks simulated input.
void play_at_once(bool);

// Reserves Ctrl+Tab for the program, since Dear ImGui would switch its windows with it. Call before each
// frame.
void keep_ctrl_tab();

}  // namespace lunagrad
