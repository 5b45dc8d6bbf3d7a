#include "script/meta/op_table.h"

#include "script/meta/signature.h"

namespace lunagrad {
namespace {

// Escapes the text of a table cell: a bar would end the cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

}  // namespace

std::string op_table() {
  std::string text =
      "# Operations\n\nEvery op is a function of `lg`; if its first argument is a tensor and its name has "
      "no dot, it is also a method\nof Tensor. Arguments are given in this order, or by name in a table "
      "after them. Dims count from 1.\n`lunagrad help NAME` explains an op, a module, an optimizer or any "
      "other function.\n\n| op | arguments | result |\n|---|---|---|\n";
  for (const Signature& signature : signatures())
    if (!signature.op->hidden())
      text += "| `" + std::string(signature.op->name) + "` | `" + signature.names + "` | " +
              cell(signature.full->doc) + " |\n";
  return text;
}

}  // namespace lunagrad
