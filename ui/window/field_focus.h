#pragma once
// The keyboard focus of text fields that appear, as of the palette. Drawing thread only.

namespace lunagrad {

// Gives the focus to the next field, as ImGui::SetKeyboardFocusHere(). Dear ImGui drops what is typed until
// the field has the focus, a few frames later, so the display's input waits meanwhile.
void focus_next_field();
// Called once before each frame: whether the display's input waits.
bool input_waits();

}  // namespace lunagrad
