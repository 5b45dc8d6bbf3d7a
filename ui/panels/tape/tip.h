#pragma once
// What the mouse over a box or the title of a frame of the tape shows. Drawing thread only.
#include "ui/panels/tape/marks.h"

namespace lunagrad {

void show_box_tip(Workbench&, const TapePicture&, const TapeMarks&, size_t box);
void show_frame_tip(Workbench&, const TapePicture&, size_t frame);

}  // namespace lunagrad
