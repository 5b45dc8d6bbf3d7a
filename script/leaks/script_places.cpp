#include "script/leaks/script_places.h"

#include <algorithm>

#include "script/chunk/globals.h"

namespace lunagrad {

void ScriptPlaces::read(lua_State* L, uint32_t file, bool main) {
  file_ = file;
  latest_ = read_chunk(L);
  if (main) {
    GlobalUses uses;
    follow(latest_, {&uses});
    for (const GlobalUse& use : uses.take())
      if (use.kind != GlobalUse::Kind::read) globals_.try_emplace(use.name, SourceLine{file, use.line});
  }
  read_fields(latest_);
}

void ScriptPlaces::read_fields(const CompiledFunction& function) {
  for (size_t i = 0; i < function.code.size(); ++i) {
    const Instruction op = function.code[i];  // R[A][K[B]] = …
    if (op.opcode() != kSetField || op.b() >= function.constants.size()) continue;
    const auto [place, fresh] = fields_.try_emplace(function.constants[op.b()]);
    if (fresh || (place->second.file == file_ && function.lines[i] < place->second.line))
      place->second = {file_, function.lines[i]};
  }
  for (const CompiledFunction& inner : function.functions) read_fields(inner);
}

// A local variable is alive from the instruction after its initializer on.
SourceLine ScriptPlaces::local(const std::string& name, int line) const {
  SourceLine found{file_, 0};
  for (const CompiledFunction::Local& local : latest_.locals) {
    if (local.name != name || latest_.lines.empty()) continue;
    const size_t at = std::min(local.begin > 0 ? local.begin - 1 : 0, latest_.lines.size() - 1);
    if (latest_.lines[at] <= line) found.line = std::max(found.line, latest_.lines[at]);
  }
  return found.line > 0 ? found : SourceLine{file_, line};
}

SourceLine ScriptPlaces::find(const Lines& lines, const std::string& name) {
  const auto found = lines.find(name);
  return found == lines.end() ? SourceLine() : found->second;
}

}  // namespace lunagrad
