#pragma once
// `lunagrad info FILE`: the format of a file, its arrays and its metadata.
#include <string>

namespace lunagrad {

// A table, or one JSON object in a line. The exit code.
int show_file(const std::string& path, bool as_json);

}  // namespace lunagrad
