#pragma once
// Notices that files were changed by an editor: another time, size or inode than before. Asked now and then
// by one thread; a change counts when the file is the same at two askings, so that a half-written one does
// not.
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
