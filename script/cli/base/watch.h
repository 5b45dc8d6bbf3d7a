#pragma once
// Detects changed files by time, size and inode. One thread polls it. A change counts when two polls see the
// same values, so that a half-written file is ignored.
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace lunagrad {

class Watch {
 public:
  // Whether one of the files changed since the last call that returned true. A file that is new in `files`
  // has not changed. False while a known file is missing or empty.
  bool changed(const std::vector<std::string>& files);

 private:
  // Seconds, nanoseconds, size, inode.
  using Stamp = std::tuple<long long, long long, long long, unsigned long long>;
  std::map<std::string, Stamp> known_, seen_;
};

}  // namespace lunagrad
