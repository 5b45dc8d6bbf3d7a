#include "ui/workbench/links.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace lunagrad {

void go_to_line(Workbench& bench, const SourcePlace& place) {
  std::vector<int> nodes;
  if (const TapeSnapshot* tape = bench.tape().tape())
    for (size_t i = 0; i < tape->nodes.size(); ++i)
      if (tape->nodes[i].place.line == place.line && tape->nodes[i].place.file == place.file)
        nodes.push_back(int(i));
  if (!nodes.empty()) show_nodes(bench, std::move(nodes));
  bench.texts().go_to(place);
}

void show_nodes(Workbench& bench, std::vector<int> nodes) {
  if (nodes.empty()) return;
  bench.tape_actions().select(nodes.front());
  bench.tape_actions().light(std::move(nodes));
}

std::vector<PlaceInText> places_in(const std::string& text) {
  std::vector<PlaceInText> found;
  constexpr std::string_view kEnding = ".lua:";
  for (size_t at = text.find(kEnding); at != text.npos; at = text.find(kEnding, at + 1)) {
    const size_t digits = at + kEnding.size();
    size_t end = digits;
    while (end < text.size() && end - digits < 9 && std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    if (end == digits) continue;
    size_t begin = at;
    const size_t least = found.empty() ? 0 : found.back().end;
    while (begin > least && !std::strchr(" \t'\"([<", text[begin - 1])) --begin;
    if (begin == at) continue;
    found.push_back({{text.substr(begin, at + 4 - begin), std::atoi(text.c_str() + digits)}, begin, end});
  }
  return found;
}

}  // namespace lunagrad
