#include "script/cli/base/own_program.h"

#include <unistd.h>

#include <algorithm>

namespace lunagrad {

std::string own_program() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size_t(std::max<ssize_t>(length, 0)));
  return path;
}

}  // namespace lunagrad
