#include "ui/runs/comparison.h"

#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "ui/runs/journal.h"

namespace lunagrad {
namespace {

constexpr uintmax_t kLongestScript = 4 << 20;

std::string script_of(const std::string& folder) {
  const std::string path = folder + "/script.lua";
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) fail_as(ErrorKind::file, path, ": ", error.message());
  if (size > kLongestScript)
    fail_as(ErrorKind::file, path, ": ", size, " bytes are too many for a script to compare");
  return read_file(path);
}

}  // namespace

RunComparison compare_runs(const std::string& left, const std::string& right) {
  RunComparison found;
  try {
    const RunRecord a = read_run_config(left), b = read_run_config(right);
    found.left = printable(a.name);
    found.right = printable(b.name);
    found.config = config_differences(a, b);
    for (ConfigDifference& difference : found.config) {
      difference.what = printable(difference.what);
      difference.left = difference.left.empty() ? "-" : printable(difference.left);
      difference.right = difference.right.empty() ? "-" : printable(difference.right);
    }
    for (const DiffLine& line : unified_diff(script_of(left), script_of(right))) {
      found.added += line.sign == '+';
      found.removed += line.sign == '-';
      const int number = line.left ? line.left : line.right;
      found.code.push_back({line.sign, line.sign == '@' ? "" : std::to_string(number), printable(line.text)});
    }
  } catch (const Error& error) {
    found.problem = printable(error.what());
  }
  return found;
}

}  // namespace lunagrad
