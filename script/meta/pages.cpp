#include "script/meta/pages.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "script/meta/help.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

// Escapes the text of a table cell: a bar would end the cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Escapes a sentence outside of code for Markdown: `<`, `*`, underscores at the edge of a word, and a bracket
// before a parenthesis.
std::string plain(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && i + 1 < text.size() && word_char(text[i - 1]) && word_char(text[i + 1]);
    if (text[i] == '<' || text[i] == '*' || (text[i] == '_' && !inside) ||
        (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '('))
      out += '\\';
    out += text[i];
  }
  return out;
}

// "lg.nn.Linear" -> "lg.nn", "Module:parameters" -> "Module", "x:size" -> "x".
std::string table_of(const std::string& name) { return name.substr(0, name.find_last_of(".:")); }

// The order of the sections: Tensor, lg, the tables in lg, then classes.
int table_rank(const std::string& table) {
  return table == "x" ? 0 : table == "lg" ? 1 : table.starts_with("lg.") ? 2 : 3;
}

// "  lr  number|nil  the rate" -> "- `lr` `number|nil`: the rate".
void print_argument(std::ostream& out, const std::string& line) {
  const size_t type = line.find("  ", 2);
  if (type == std::string::npos) {
    out << "- `" << line.substr(2) << "`\n";
    return;
  }
  const size_t about = line.find("  ", type + 2);
  const std::string name = line.substr(2, type - 2);
  out << (name == "returns" ? "- returns" : "- `" + name + "`") << " `"
      << line.substr(type + 2, about == std::string::npos ? about : about - type - 2) << '`';
  if (about != std::string::npos) out << ": " << plain(line.substr(about + 2));
  out << '\n';
}

void print_entry(std::ostream& out, const HelpEntry& entry) {
  out << "\n### `" << entry.call << "`\n";
  std::istringstream lines(entry.text);
  bool listed = false, started = false;
  for (std::string line; std::getline(lines, line);) {
    const bool argument = line.starts_with("  ");
    if (!started || argument != listed) out << '\n';
    started = true;
    listed = argument;
    if (argument)
      print_argument(out, line);
    else
      out << plain(line) << '\n';
  }
}

}  // namespace

void print_op_table(std::ostream& out) {
  out << "# Operations\n\nEvery op is a function of `lg`; if its first argument is a tensor and its name has "
         "no dot, it is also "
         "a method\nof Tensor. Arguments are given in this order, or by name in a table after them. Dims "
         "count "
         "from 1. This page is generated: see\n[CONTRIBUTING](../CONTRIBUTING.md). Modules, optimizers and "
         "the rest "
         "are in "
         "[library.md](library.md).\n\n| op | arguments | result |\n|---|---|---|\n";
  for (const Signature& signature : signatures())
    if (!signature.op->hidden())
      out << "| `" << signature.op->name << "` | `" << signature.names << "` | " << cell(signature.full->doc)
          << " |\n";
}

void print_library(std::ostream& out) {
  out << "# Library\n\nWhat `lg` offers besides the [operations](operations.md): tensors, modules, "
         "optimizers, data, "
         "files and the run.\nOptions go into a table after the other arguments. `lunagrad help NAME` shows "
         "one "
         "entry. This page is generated from the\nannotations in `lua/meta` and `lua/lunagrad/optim`.\n";
  std::vector<std::pair<std::string, std::vector<const HelpEntry*>>> tables;
  for (const HelpEntry& entry : help_entries()) {
    if (entry.kind != HelpEntry::Kind::function) continue;
    const std::string table = table_of(entry.name);
    size_t at = 0;
    while (at < tables.size() && tables[at].first != table) ++at;
    if (at == tables.size()) tables.push_back({table, {}});
    tables[at].second.push_back(&entry);
  }
  std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) {
    return std::pair(table_rank(a.first), a.first) < std::pair(table_rank(b.first), b.first);
  });
  for (const auto& [table, entries] : tables) {
    out << "\n## " << (table == "x" ? "Tensor" : table) << '\n';
    for (const HelpEntry* entry : entries) print_entry(out, *entry);
  }
}

}  // namespace lunagrad
