#pragma once
// Paths, arguments and other bytes of the system as UTF-8 text, which JSON, XML and ZIP can hold. Each byte
// that is not UTF-8 becomes an escape such as "\xe9" with two lower-case digits. In a text that has such
// bytes, or parts that read like an escape, a backslash becomes "\x5c". Any other text is the path itself.
// Pure.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

std::string path_text(std::string_view path);
std::vector<std::string> path_texts(const std::vector<std::string>& paths);
std::string path_of_text(std::string_view text);  // the inverse of path_text()

}  // namespace lunagrad
