#include "script/cli/base/table.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "runtime/core/terminal_text.h"

namespace lunagrad {

std::string table_text(const std::vector<std::vector<std::string>>& given,
                       const std::vector<std::string>& styles) {
  std::vector<std::vector<std::string>> rows = given;  // names may come from other users
  for (auto& row : rows)
    for (std::string& cell : row) cell = terminal_line(cell);
  const auto width = [](const std::string& text) {
    return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  std::string lines;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto& row = rows[r];
    const bool styled = r < styles.size() && !styles[r].empty();
    if (styled) lines += "\x1b[" + styles[r] + "m";
    for (size_t i = 0; i < row.size(); ++i) {
      lines += row[i];
      if (i + 1 < row.size()) lines += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    if (styled) lines += "\x1b[0m";
    lines += "\n";
  }
  return lines;
}

void print_table(const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& styles) {
  const std::string lines = table_text(rows, styles);
  std::cout.flush();
  std::fwrite(lines.data(), 1, lines.size(), stdout);  // std::cout would show the styles as text
}

}  // namespace lunagrad
