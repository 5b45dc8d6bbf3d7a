#pragma once
// The text of a script and the name of its chunk: reads the text from its file, and compiles it without
// running it. Any thread.
#include <string>
#include <string_view>

#include "script/view/source_place.h"

namespace lunagrad {

// The chunk's name as `error` shows it: "@dir/train.lua" -> "dir/train.lua".
std::string chunk_name(const char* source);
// The content of the file. Error of kind file when it cannot be read.
std::string read_script(const std::string& path);
// The source without a shebang line, which Lua skips only in files that it reads itself. The newline stays,
// so that lines keep their numbers.
std::string_view without_shebang(std::string_view source);
// "train.lua:12: unexpected symbol near '='", and `place` is set to the line; "" when the source compiles.
std::string syntax_error(std::string_view source, const std::string& chunk_name, SourcePlace& place);

}  // namespace lunagrad
