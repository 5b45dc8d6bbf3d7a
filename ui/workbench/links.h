#pragma once
// Ways from one panel to another: to a line of the script, to nodes of the tape. Drawing thread only.
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

void go_to_line(Workbench&, const SourcePlace&);
// The nodes, of TapePtr::nodes; the first is selected.
void show_nodes(Workbench&, std::vector<int> nodes);

// "train.lua:12" inside a line of text, as errors and tracebacks name it: its place and the bytes from begin
// to end.
struct PlaceInText {
  SourcePlace place;
  size_t begin = 0, end = 0;
};
std::vector<PlaceInText> places_in(const std::string& text);

}  // namespace lunagrad
