#pragma once
// The folder damaged/, into which a repair moves damaged files and lines. Errors are of kind file.
#include <string>
#include <string_view>

#include "script/check/check.h"

namespace lunagrad {

// Returns false, and adds a note, when the folder contains a link that leads out of it, through which a
// repair would write, or something that is no file.
bool may_repair(const std::string& folder, CheckReport&);

// Moves `folder`/`name`, a file or folder, to `folder`/damaged/`name`, or to another name there if that one
// is taken. Returns a description: "moved to runs/a/damaged/config.json".
std::string move_aside(const std::string& folder, const std::string& name);
// Appends damaged lines, each with its newline, to `folder`/damaged/`name`.
std::string put_aside(const std::string& folder, const std::string& name, std::string_view lines);

}  // namespace lunagrad
