#pragma once
// A table of text.
#include <string>
#include <vector>

namespace lunagrad {

// Columns as wide as their widest cell, in characters, not bytes; each row ends with a newline. `styles`: for
// each row the parameters of the terminal's SGR sequence, as "1;31", "" for none. Without `styles` nothing is
// coloured.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::string>& styles = {});
void print_table(const std::vector<std::vector<std::string>>& rows,
                 const std::vector<std::string>& styles = {});  // on standard output

}  // namespace lunagrad
