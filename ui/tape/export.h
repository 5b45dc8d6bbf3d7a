#pragma once
// The tape as files for other programs. Pure; any thread.
#include <string>

#include "script/view/tape.h"
#include "ui/graph/canvas.h"

namespace lunagrad {

// Every node of the tape as Graphviz text, the same as lg.tape(x):dot().
std::string tape_as_dot(const TapeSnapshot&);
// The picture as laid out, with open and closed modules and the text of every box.
std::string picture_as_svg(const CanvasGraph&, const GraphCanvas::Colors&);

}  // namespace lunagrad
