#pragma once
// What other programs want to know of the command line: completions for shells, and a page for man. Both are
// made from the commands as they describe themselves.
#include <ostream>
#include <string>

#include "script/cli/base/flags.h"

namespace lunagrad {

// A script for "bash", "zsh" or "fish".
void print_completion(std::ostream& out, const CommandText& program, const std::string& shell);
// The manual page lunagrad(1), in troff's man macros.
void print_man_page(std::ostream& out, const CommandText& program);

}  // namespace lunagrad
