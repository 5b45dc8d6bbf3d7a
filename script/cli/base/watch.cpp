#include "script/cli/base/watch.h"

#include <sys/stat.h>

namespace lunagrad {

bool Watch::changed(const std::vector<std::string>& files) {
  bool changed = false, at_rest = true;
  for (const std::string& file : files) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0 || status.st_size == 0) {
      at_rest = at_rest && !known_.count(file);  // an editor is replacing the file
      continue;
    }
    const Stamp now{status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino};
    if (known_.emplace(file, now).first->second == now) continue;
    changed = true;
    Stamp& before = seen_[file];
    at_rest = at_rest && before == now;
    before = now;
  }
  if (!changed || !at_rest) return false;
  for (const auto& [file, stamp] : seen_) known_[file] = stamp;
  seen_.clear();
  return true;
}

}  // namespace lunagrad
