#pragma once
// Compares the inputs of two runs, and two texts line by line, for `lunagrad runs diff` and the window. No
// Lua; any thread.
#include <string>
#include <string_view>
#include <vector>

#include "script/run/record.h"

namespace lunagrad {

struct ConfigDifference {
  std::string what, left, right;  // "param lr", "0.1"; "" where a run lacks it
};
// The differences in script, seed, device, commit, arguments and parameters.
std::vector<ConfigDifference> config_differences(const RunRecord& left, const RunRecord& right);

struct DiffLine {
  char sign = ' ';          // ' ' in both, '-' only left, '+' only right, '@' start of a part
  int left = 0, right = 0;  // line numbers; 0 where the line is absent
  std::string text;
};
// The shortest script of insertions and deletions (Myers 1986, "An O(ND) difference algorithm and its
// variations"), of all lines. Texts that differ in more than 2,000 lines count as replaced as a whole.
std::vector<DiffLine> line_diff(std::string_view left, std::string_view right);
// The part of line_diff() with `context` lines around each change. Empty if the texts are equal.
std::vector<DiffLine> unified_diff(std::string_view left, std::string_view right, int context = 3);

}  // namespace lunagrad
