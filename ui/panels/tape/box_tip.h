#pragma once
// The tooltips of the tape: of a box, an op with its outputs, plan and source line or a closed module, and of
// the title of an open module. Drawing thread only.
#include "ui/panels/tape/marks.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

// `area`: of the box, or of the title, on the screen.
void draw_box_tip(Workbench&, const TapePicture&, size_t box, const ScreenArea& area, const TapeMarks&);
void draw_frame_tip(Workbench&, const TapePicture&, size_t frame, const ScreenArea& area);

}  // namespace lunagrad
