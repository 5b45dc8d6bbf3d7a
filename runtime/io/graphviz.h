#pragma once
// Graphs as text for the program `dot` of Graphviz. Pure; any thread.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct DotNode {
  std::string id;                   // letters and digits
  std::vector<std::string> lines;   // lines of the label
  bool leaf = false;                // drawn filled
  std::vector<std::string> inputs;  // ids
};
// Edges go from inputs to nodes, drawn from left to right.
std::string dot_text(const std::vector<DotNode>&);

}  // namespace lunagrad
