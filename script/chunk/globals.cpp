#include "script/chunk/globals.h"

#include <algorithm>

namespace lunagrad {
namespace {

// `outside`: for each upvalue of the enclosing function, whether it is the table of globals.
void collect(const CompiledFunction& function, const std::vector<bool>* outside,
             std::vector<GlobalUse>& uses) {
  // The only upvalue of the main chunk is the table of globals; an inner function inherits it.
  std::vector<bool> globals(function.upvalues.size());
  for (size_t i = 0; i < globals.size(); ++i) {
    const CompiledFunction::Upvalue& upvalue = function.upvalues[i];
    globals[i] =
        !outside ? i == 0 : !upvalue.in_stack && upvalue.index < outside->size() && (*outside)[upvalue.index];
  }
  for (const CompiledFunction& inner : function.functions) collect(inner, &globals, uses);
  // The register that holds _G, if the last global that was read is _G; otherwise UINT32_MAX.
  uint32_t whole = UINT32_MAX;
  for (size_t i = 0; i < function.code.size(); ++i) {
    const Instruction op = function.code[i];
    const auto use = [&](size_t key, GlobalUse::Kind kind) {
      if (key < function.constants.size()) uses.push_back({function.constants[key], function.lines[i], kind});
    };
    // R[A] = upvalue[B][K[C]]; upvalue[A][K[B]] = …; R[A][K[B]] = …
    if (op.opcode() == kGetTabUp && globals.at(op.b())) {
      use(op.c(), GlobalUse::Kind::read);
      whole = function.constants.at(op.c()) == "_G" ? op.a() : UINT32_MAX;
    } else if (op.opcode() == kSetTabUp && globals.at(op.a())) {
      use(op.b(), GlobalUse::Kind::assigned);
    } else if (op.opcode() == kSetField && op.a() == whole) {
      use(op.b(), GlobalUse::Kind::declared);
    }
  }
}

}  // namespace

std::vector<GlobalUse> global_uses(const CompiledFunction& chunk) {
  std::vector<GlobalUse> uses;
  collect(chunk, nullptr, uses);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const GlobalUse& a, const GlobalUse& b) { return a.line < b.line; });
  return uses;
}

}  // namespace lunagrad
