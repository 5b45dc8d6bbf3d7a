#pragma once
// Finds the definition of a name in a Lua text: a function, a local, a parameter, a loop variable; otherwise
// the first assignment. Looks at words only, not at scopes: among equal names it takes the nearest one above.
// Pure functions.
#include <cctype>
#include <optional>
#include <string>

#include "ui/text/buffer.h"

namespace lunagrad {

// Whether a name may contain the character.
inline bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The name at the caret or directly before it, with its path: "net.layers", "opt:step"; "" for none.
std::string name_at(const TextBuffer&, TextPosition caret);
// The definition of a name, or of the last part of a path, as seen from the caret.
std::optional<TextPosition> definition_of(const TextBuffer&, const std::string& name, TextPosition caret);

}  // namespace lunagrad
