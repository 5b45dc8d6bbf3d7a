#pragma once
// Check boxes and radio buttons with an outline, so that an empty one is visible on any background. Drawing
// thread only.

namespace lunagrad {

bool tick_box(const char* label, bool* on);
bool radio_button(const char* label, bool on);

}  // namespace lunagrad
