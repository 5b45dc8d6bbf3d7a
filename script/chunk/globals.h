#pragma once
// Finds the globals that a compiled Lua chunk reads and assigns, with their lines. Any thread.
#include <string>
#include <vector>

#include "script/chunk/follow.h"

namespace lunagrad {

struct GlobalUse {
  enum class Kind { read, assigned, declared };  // declared: assigned as a field of _G
  std::string name;
  int line = 0;
  Kind kind = Kind::read;
};

class GlobalUses : public ChunkObserver {
 public:
  std::vector<GlobalUse> take();  // by line

  void reads(const Known& holder, std::string_view field, int line, bool method) override;
  void assigns(const Known& holder, std::string_view field, int line) override;

 private:
  std::vector<GlobalUse> uses_;
};

}  // namespace lunagrad
