#include "ui/workbench/example_needs.h"

#include <fstream>

namespace lunagrad {

std::string needed_arguments(const std::string& script) {
  std::ifstream file(script);
  for (std::string line; std::getline(file, line) && line.starts_with("--");) {
    const size_t command = line.find("lunagrad run "), words = line.find(" -- ", command);
    if (command == line.npos || words == line.npos) continue;
    const size_t first = line.find_first_not_of(' ', words + 4);
    if (first == line.npos) continue;
    return line.substr(first, line.find("  ", first) - first);
  }
  return "";
}

}  // namespace lunagrad
