#pragma once
// The step in the toolbar: the run's progress, or the past step that the window shows, and beside it the way
// back to the latest step. Their widths do not change while the numbers grow. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

std::string time_text(double seconds);
double seconds_left(const Journal&);  // until the last step at the present rate; negative if unknown

float progress_width(const Journal&);
void draw_progress(Workbench&, float width);
// "live" while the window shows the latest step, otherwise the button that goes back to it.
float cursor_width();
void draw_cursor(Workbench&, float width);

}  // namespace lunagrad
