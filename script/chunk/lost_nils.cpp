#include "script/chunk/lost_nils.h"

#include <algorithm>

namespace lunagrad {
namespace {

void collect_lost_nils(const CompiledFunction& function, std::vector<int>& lines) {
  for (size_t i = 1; i + 1 < function.code.size(); ++i) {
    const Instruction nils = function.code[i - 1], list = function.code[i], index = function.code[i + 1];
    if (list.opcode() != kSetList || nils.opcode() != kLoadNil) continue;
    const uint32_t last = list.a() + list.b();
    const bool ends_in_nil = list.b() > 1 && nils.a() <= last && last <= nils.a() + nils.b();
    const bool is_index = (index.opcode() == kGetTable && index.c() == list.a()) ||
                          (index.opcode() == kSetTable && index.b() == list.a());
    if (ends_in_nil && is_index) lines.push_back(function.lines[i + 1]);
  }
  for (const CompiledFunction& inner : function.functions) collect_lost_nils(inner, lines);
}

}  // namespace

std::vector<int> lost_nils(const CompiledFunction& chunk) {
  std::vector<int> lines;
  collect_lost_nils(chunk, lines);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace lunagrad
