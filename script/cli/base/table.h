#pragma once
// A table of text.
#include <string>
#include <vector>

namespace lunagrad {

// Columns as wide as their widest cell, in characters, not bytes; each row ends with a newline.
std::string table_text(const std::vector<std::vector<std::string>>& rows);
void print_table(const std::vector<std::vector<std::string>>& rows);  // on standard output

}  // namespace lunagrad
