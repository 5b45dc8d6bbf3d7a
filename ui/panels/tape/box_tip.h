#pragma once
// The tooltip of a box of the tape: an op with its outputs, plan and source line, or a closed module. Drawing
// thread only.
#include "ui/panels/tape/marks.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

// `area`: of the box on the screen.
void draw_box_tip(Workbench&, const TapePicture&, size_t box, const ScreenArea& area, const TapeMarks&);

}  // namespace lunagrad
