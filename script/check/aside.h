#pragma once
// The folder damaged/, into which a repair moves what is damaged. Errors are of kind file.
#include <string>
#include <string_view>

#include "script/check/check.h"

namespace lunagrad {

// False when something in the folder is a link out of it, which a repair would write through, or no file;
// then a note says so.
bool may_repair(const std::string& folder, CheckReport&);

// Moves `folder`/`name`, a file or folder, to `folder`/damaged/`name`, or to another name there if that is
// taken. Returns what was done: "moved to runs/a/damaged/config.json".
std::string move_aside(const std::string& folder, const std::string& name);
// Appends damaged lines, each with its newline, to `folder`/damaged/`name`.
std::string put_aside(const std::string& folder, const std::string& name, std::string_view lines);

}  // namespace lunagrad
