#pragma once
// A table on standard output.
#include <string>
#include <vector>

namespace lunagrad {

// Columns as wide as their widest cell, in characters, not bytes.
void print_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace lunagrad
