#pragma once
// Text whose lines begin with spaces. Drawing thread only.
#include <string>

namespace lunagrad {

// Draws the lines of the text. A line that is wrapped keeps its indentation.
void indented_text(const std::string&);

}  // namespace lunagrad
