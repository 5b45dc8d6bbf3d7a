#pragma once
// A line of a script. A plain value; any thread may hold a copy.
#include <string>

#include "runtime/core/trace.h"

namespace lunagrad {

struct SourcePlace {
  std::string file;
  int line = 0;  // from 1; 0: unknown
  bool operator==(const SourcePlace&) const = default;
};

inline SourcePlace place_of(SourceLine line) { return {interned(line.file), line.line}; }

// Without folders.
inline std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// "model.lua:14" without folders; "" without a line.
inline std::string file_and_line(const SourcePlace& place) {
  if (place.line < 1) return {};
  return file_name(place.file) + ":" + std::to_string(place.line);
}

}  // namespace lunagrad
