#pragma once
// A line of a script, as names and numbers that any thread may hold.
#include <string>

namespace lunagrad {

struct SourcePlace {
  std::string file;
  int line = 0;
  bool operator==(const SourcePlace&) const = default;
};

}  // namespace lunagrad
