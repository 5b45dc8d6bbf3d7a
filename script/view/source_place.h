#pragma once
// A line of a script. A plain value; any thread may hold a copy.
#include <string>

namespace lunagrad {

struct SourcePlace {
  std::string file;
  int line = 0;  // from 1; 0: unknown
  bool operator==(const SourcePlace&) const = default;
};

}  // namespace lunagrad
