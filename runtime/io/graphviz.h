#pragma once
// Graphs as text for Graphviz, and the program `dot` as a child process. dot_text is pure; any thread.
#include <functional>
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

struct DotRun {
  enum class End { done, missing, failed, stopped } end = End::failed;
  std::string output;  // its standard output
  std::string reason;  // why it failed
};
// Runs `program OPTIONS` with `graph` as its input, and waits. Calls `stop` every few milliseconds and kills
// the program when `stop` returns true.
DotRun run_dot(const std::string& graph, const std::vector<std::string>& options,
               const std::function<bool()>& stop = {}, const std::string& program = "dot");

}  // namespace lunagrad
