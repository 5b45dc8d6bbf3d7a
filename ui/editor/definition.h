#pragma once
// Where a text of Lua says what a name is: a function, a local, a parameter, the variable of a loop; failing
// these, the first assignment to it. Looks at words alone, so of two names that are alike it takes the nearer
// one above. Pure functions.
#include <optional>
#include <string>

#include "ui/text/buffer.h"

namespace lunagrad {

// The name at the caret, or just before it, with what stands before its last part: "net.layers", "opt:step";
// "" for none.
std::string name_at(const TextBuffer&, TextPosition caret);
// The definition of a name, or of the last part of a path, as seen from the caret.
std::optional<TextPosition> definition_of(const TextBuffer&, const std::string& name, TextPosition caret);

}  // namespace lunagrad
