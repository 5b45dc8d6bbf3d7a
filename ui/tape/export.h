#pragma once
// The tape as files that other programs read. Pure; any thread.
#include <string>

#include "script/session.h"
#include "ui/graph/canvas.h"

namespace lunagrad {

// Every node of the tape as Graphviz's text, as lg.tape(x):dot() gives it.
std::string tape_as_dot(const TapeSnapshot&);
// The picture as it is laid out, open and closed modules included, with the text of every box.
std::string picture_as_svg(const CanvasGraph&, const GraphCanvas::Colors&);

}  // namespace lunagrad
