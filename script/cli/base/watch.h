#pragma once
// Detects files changed by an editor: a new time, size or inode. Polled by one thread. A change counts when
// two polls see the same file, so that a half-written file is ignored.
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace lunagrad {

class Watch {
 public:
  // Whether one of the files changed since the last call that said so. One that was not asked about before,
  // is empty, or is not there at the moment has not.
  bool changed(const std::vector<std::string>& files);

 private:
  using Stamp =
      std::tuple<long long, long long, long long, unsigned long long>;  // seconds, nanoseconds, size, inode
  std::map<std::string, Stamp> known_, seen_;
};

}  // namespace lunagrad
