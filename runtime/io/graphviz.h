#pragma once
// Graphs as Graphviz's text, and the program `dot` as a child process. Pure but for run_dot; any thread.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct DotNode {
  std::string id;                   // letters and digits
  std::vector<std::string> lines;   // of its label
  bool leaf = false;                // nobody made it: filled
  std::vector<std::string> inputs;  // ids
};
// Data flows from left to right.
std::string dot_text(const std::vector<DotNode>&);

struct DotRun {
  enum class End { done, missing, failed, stopped } end = End::failed;
  std::string output;  // what it wrote to its standard output
  std::string reason;  // of a failure
};
// Runs `program OPTIONS` with `graph` as its input until it ends or `stop` says so, which is asked every few
// milliseconds; then it is killed.
DotRun run_dot(const std::string& graph, const std::vector<std::string>& options,
               const std::function<bool()>& stop = {}, const std::string& program = "dot");

}  // namespace lunagrad
