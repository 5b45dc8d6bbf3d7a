#pragma once
// Keys by GLFW's numbers, and input that is played instead of typed, in both of Dear ImGui's ways: until 1.86
// it is told of input in arrays that count as GLFW does, since 1.87 by events with names of its own. Drawing
// thread only.
#include <imgui.h>

namespace lunagrad {

bool key_pressed(int key, bool repeat = true);

// What a user would do, told between the backend's new frame and Dear ImGui's.
void play_key(int key, bool down);
void play_modifiers(bool ctrl, bool shift, bool alt, bool down);  // touches those that are named
void play_mouse(ImVec2 at);
void play_button(ImGuiMouseButton, bool down);
void play_wheel(float notches);
// Whether all input of a frame counts in that frame. Dear ImGui would spread what comes fast over several,
// which a person does not notice and who plays input does.
void play_at_once(bool);

// Leaves Ctrl+Tab to the program: Dear ImGui goes through its windows with it. Before each frame.
void keep_ctrl_tab();

}  // namespace lunagrad
