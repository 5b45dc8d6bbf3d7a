#pragma once
// Finds the fields of the library that a compiled Lua chunk reads, such as nn.Linear after `local nn =
// lg.nn`, without running it. Any thread.
#include <string>
#include <vector>

#include "script/chunk/follow.h"

namespace lunagrad {

struct FieldUse {
  std::string table;  // "lg.nn"
  std::string name;   // "Linear"
  int line = 0;
  bool assigned = false;
  std::string path() const { return table + "." + name; }
};

class FieldUses : public ChunkObserver {
 public:
  std::vector<FieldUse> take();  // by line

  void reads(const Known& holder, std::string_view field, int line, bool method) override;
  void assigns(const Known& holder, std::string_view field, int line) override;

 private:
  std::vector<FieldUse> uses_;
};

}  // namespace lunagrad
