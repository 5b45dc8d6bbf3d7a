#pragma once
// Boxes to tick and radio buttons with an outline, by which an empty one is seen on any ground. Drawing
// thread only.

namespace lunagrad {

bool tick_box(const char* label, bool* on);
bool radio_button(const char* label, bool on);

}  // namespace lunagrad
