#pragma once
// Runs another program as a filter: a text goes to its standard input, and its standard output comes back.
// Any thread.
#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

struct FilterRun {
  enum class End { done, missing, failed, stopped } end = End::failed;
  std::string output;  // its standard output
  std::string reason;  // why it failed
};
// Runs `program OPTIONS` with `text` as its input, and waits. Calls `stop` every few milliseconds and kills
// the program when `stop` returns true.
FilterRun run_filter(const std::string& program, const std::vector<std::string>& options,
                     const std::string& text, const std::function<bool()>& stop = {});

}  // namespace lunagrad
