#pragma once
// A table on standard output.
#include <string>
#include <vector>

namespace lunagrad {

// Columns as wide as their widest cell, in characters, not bytes. `styles`: of each row the parameters of the
// terminal's SGR sequence, as "1;31", "" for none; without them nothing is coloured.
void print_table(const std::vector<std::vector<std::string>>& rows,
                 const std::vector<std::string>& styles = {});

}  // namespace lunagrad
