#include "runtime/io/graphviz.h"

namespace lunagrad {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\0' ? ' ' : c;
  }
}

}  // namespace

std::string dot_text(const std::vector<DotNode>& nodes) {
  std::string out =
      "digraph tape {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n";
  for (const DotNode& node : nodes) {
    out += "  " + node.id + " [label=\"";
    for (size_t i = 0; i < node.lines.size(); ++i) {
      if (i > 0) out += "\\n";
      append_quoted(out, node.lines[i]);
    }
    out += node.leaf ? "\", style=filled];\n" : "\"];\n";
    for (const std::string& input : node.inputs) out += "  " + input + " -> " + node.id + ";\n";
  }
  return out + "}\n";
}

}  // namespace lunagrad
