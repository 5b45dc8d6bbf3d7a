#include "script/cli/base/table.h"

#include <algorithm>
#include <iostream>

namespace lunagrad {

void print_table(const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& styles) {
  const auto width = [](const std::string& text) {
    return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto& row = rows[r];
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    const bool styled = r < styles.size() && !styles[r].empty();
    std::cout << (styled ? "\x1b[" + styles[r] + "m" + line + "\x1b[0m" : line) << "\n";
  }
}

}  // namespace lunagrad
