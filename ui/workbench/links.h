#pragma once
// Links between panels: to a line of the script, to nodes of the tape. Drawing thread only.
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

void go_to_line(Workbench&, const SourcePlace&);
// Outlines the nodes (indices into TapeSnapshot::nodes) and selects the first.
void show_nodes(Workbench&, std::vector<int> nodes);

// A place such as "train.lua:12" in a line of text, as errors and tracebacks write it, with its bytes from
// begin to end.
struct PlaceInText {
  SourcePlace place;
  size_t begin = 0, end = 0;
};
std::vector<PlaceInText> places_in(const std::string& text);

}  // namespace lunagrad
