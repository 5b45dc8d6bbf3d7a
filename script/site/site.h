#pragma once
// The documents as a static site: the hand-written pages and the reference, with navigation and a search that
// works from file:// addresses. No Lua; any thread. Errors are of kind file.
#include <string>

#include "script/cli/base/flags.h"

namespace lunagrad {

// Writes the site into the folder, which is made if it does not exist. `program`: the declared commands.
void write_site(const std::string& folder, const CommandText& program);

}  // namespace lunagrad
