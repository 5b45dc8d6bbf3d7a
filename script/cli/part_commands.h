#pragma once
// The commands of the optional parts (cmake/parts.cmake), in the order of the program's help.
// cmake/part.cmake writes the source. For the main thread.
#include <span>
#include <vector>

#include "script/cli/base/flags.h"

namespace lunagrad {

struct PartCommand {
  const char* name;
  Action (*add)(Program&);  // null: not part of this build
};
std::span<const PartCommand> part_commands();

}  // namespace lunagrad
