#include "runtime/io/own_file.h"

#include <dlfcn.h>

#include <filesystem>

namespace lunagrad {

std::string own_library_file() {
  static const char inside = 0;
  Dl_info found;
  if (!dladdr(&inside, &found) || !found.dli_fname) return {};
  std::error_code none;
  return std::filesystem::canonical(found.dli_fname, none).string();
}

std::string own_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
}

std::string own_neighbour(const std::string& name) {
  return (std::filesystem::path(own_program()).parent_path() / name).string();
}

}  // namespace lunagrad
