#include "script/chunk/fields.h"

#include <algorithm>
#include <map>
#include <set>

namespace lunagrad {
namespace {

// What a register or upvalue holds: "lg.nn", a table of the library; "=env", the globals; "=require";
// ":text", a string; "" something else.
using Known = std::string;

bool is_library(const Known& value) { return value.starts_with("lg"); }

struct Registers {
  uint32_t first, end;  // [first, end)
};

// The registers that an instruction writes.
Registers written(const Instruction op) {
  constexpr uint32_t kAll = 256;
  const uint32_t a = op.a(), code = op.opcode();
  if (code == kSetUpvalue || (code >= kSetTabUp && code <= kSetField) ||
      (code >= kMmBin && code <= kMmBinK) || (code >= kClose && code <= kTest) ||
      (code >= kReturn && code <= kReturn1) || code == kSetList || code == kVarargPrep || code == kExtraArg)
    return {a, a};
  switch (code) {
    case kLoadNil:
      return {a, a + op.b() + 1};
    case kSelf:
      return {a, a + 2};
    case kCall:
    case kTailCall:
    case kVararg:
      return {a, kAll};
    case kForLoop:
    case kForPrep:
    case kTForPrep:
      return {a, a + 4};
    case kTForCall:
      return {a + 4, kAll};
    case kTForLoop:
      return {a + 2, a + 3};
    default:
      return {a, a + 1};
  }
}

// Whether the function, or one inside it, assigns its upvalue.
bool assigns_upvalue(const CompiledFunction& function, size_t upvalue) {
  for (const Instruction op : function.code)
    if (op.opcode() == kSetUpvalue && op.b() == upvalue) return true;
  for (const CompiledFunction& inner : function.functions)
    for (size_t i = 0; i < inner.upvalues.size(); ++i)
      if (!inner.upvalues[i].in_stack && inner.upvalues[i].index == upvalue && assigns_upvalue(inner, i))
        return true;
  return false;
}

// A local variable that keeps the value of its declaration.
struct Constant {
  size_t begin, end;
  uint32_t reg;
};

std::vector<Constant> constants_of(const CompiledFunction& function) {
  std::vector<Constant> found;
  for (size_t i = 0; i < function.locals.size(); ++i) {
    const CompiledFunction::Local& local = function.locals[i];
    uint32_t reg = 0;
    for (size_t j = 0; j < i; ++j)
      reg += function.locals[j].begin <= local.begin && local.begin < function.locals[j].end;
    bool constant = true;
    for (size_t at = local.begin; at < local.end && at < function.code.size() && constant; ++at) {
      const Instruction op = function.code[at];
      const Registers changed = written(op);
      // A call leaves the registers below its own alone, and those of locals are below.
      constant = !(changed.first <= reg && reg < changed.end);
      if (op.opcode() != kClosure || op.bx() >= function.functions.size()) continue;
      const CompiledFunction& inner = function.functions[op.bx()];
      for (size_t k = 0; k < inner.upvalues.size(); ++k)
        if (inner.upvalues[k].in_stack && inner.upvalues[k].index == reg && assigns_upvalue(inner, k))
          constant = false;
    }
    if (constant) found.push_back({local.begin, local.end, reg});
  }
  return found;
}

// The instructions that a jump leads to. The upper 25 bits of a jump, less 2^24 - 1, are its distance.
std::set<size_t> jump_targets(const CompiledFunction& function) {
  std::set<size_t> targets;
  for (size_t at = 0; at < function.code.size(); ++at) {
    const Instruction op = function.code[at];
    const int64_t next = int64_t(at) + 1;
    constexpr int64_t kZero = (1 << 24) - 1;
    switch (op.opcode()) {
      case kJump:
        targets.insert(size_t(next + int64_t(op.bits >> 7) - kZero));
        break;
      case kForLoop:
      case kTForLoop:
        targets.insert(size_t(next - int64_t(op.bx())));
        break;
      case kForPrep:
      case kTForPrep:
        targets.insert(size_t(next + int64_t(op.bx()) + 1));
        targets.insert(size_t(next + int64_t(op.bx())));
        break;
      default:
        if ((op.opcode() >= kEq && op.opcode() <= kTestSet) || op.opcode() == kLoadFalseSkip)
          targets.insert(size_t(next + 1));
        break;
    }
  }
  return targets;
}

class Fields {
 public:
  std::vector<FieldUse> find(const CompiledFunction& chunk) {
    // The first pass finds the globals, the second reads them in functions that precede the assignment.
    for (int pass = 0; pass < 2; ++pass) {
      uses_.clear();
      follow(chunk, {Known("=env")});
    }
    std::stable_sort(uses_.begin(), uses_.end(),
                     [](const FieldUse& a, const FieldUse& b) { return a.line < b.line; });
    return std::move(uses_);
  }

 private:
  // The value of table[key], which the script reads.
  Known read(const Known& table, const std::string& key, int line) {
    if (table == "=env") {
      if (key == "require") return "=require";
      const auto global = globals_.find(key);
      return global == globals_.end() ? Known() : global->second;
    }
    if (!is_library(table) || key.empty()) return {};
    uses_.push_back({table, key, line});
    return table + "." + key;
  }

  void assign(const Known& table, const std::string& key, const Known& value, int line) {
    if (table == "=env") {
      const auto [global, added] = globals_.emplace(key, value);
      if (!added && global->second != value) global->second.clear();
    } else if (is_library(table) && !key.empty()) {
      uses_.push_back({table, key, line, true});
    }
  }

  void follow(const CompiledFunction& function, const std::vector<Known>& upvalues) {
    std::vector<Known> registers(512);
    const std::vector<Constant> constants = constants_of(function);
    const std::set<size_t> targets = jump_targets(function);
    const auto text = [&](size_t k) { return k < function.constants.size() ? function.constants[k] : ""; };
    const auto is_constant = [&](size_t at, uint32_t reg) {
      return std::any_of(constants.begin(), constants.end(), [&](const Constant& local) {
        return local.reg == reg && local.begin <= at && at < local.end;
      });
    };
    for (size_t at = 0; at < function.code.size(); ++at) {
      if (targets.count(at))
        for (uint32_t reg = 0; reg < registers.size(); ++reg)
          if (!registers[reg].empty() && !is_constant(at, reg)) registers[reg].clear();
      const Instruction op = function.code[at];
      const int line = function.lines[at];
      const auto upvalue = [&](size_t i) { return i < upvalues.size() ? upvalues[i] : Known(); };
      Known result, self;
      switch (op.opcode()) {
        case kMove:
          result = registers[op.b()];
          break;
        case kLoadK:
          result = ":" + text(op.bx());
          break;
        case kGetUpvalue:
          result = upvalue(op.b());
          break;
        case kGetTabUp:
          result = read(upvalue(op.b()), text(op.c()), line);
          break;
        case kGetField:
          result = read(registers[op.b()], text(op.c()), line);
          break;
        case kSelf:
          self = registers[op.b()];
          if (op.bits >> 15 & 1) result = read(self, text(op.c()), line);
          break;
        case kSetTabUp:
          assign(upvalue(op.a()), text(op.b()), op.bits >> 15 & 1 ? Known() : registers[op.c()], line);
          break;
        case kSetField:
          assign(registers[op.a()], text(op.b()), {}, line);
          break;
        case kCall:
        case kTailCall: {
          const Known& module = registers[op.a() + 1];
          if (registers[op.a()] == "=require" && module == ":lunagrad") result = "lg";
          if (registers[op.a()] == "=require" && module.starts_with(":lunagrad.") &&
              module != ":lunagrad.core")
            result = "lg" + module.substr(9);
          break;
        }
        case kClosure:
          if (op.bx() < function.functions.size()) {
            const CompiledFunction& inner = function.functions[op.bx()];
            std::vector<Known> seen;
            for (const CompiledFunction::Upvalue& up : inner.upvalues) {
              if (!up.in_stack)
                seen.push_back(upvalue(up.index));
              else
                seen.push_back(is_constant(at, uint32_t(up.index)) ? registers[up.index] : Known());
            }
            follow(inner, seen);
          }
          break;
        default:
          break;
      }
      const Registers changed = written(op);
      for (uint32_t reg = changed.first; reg < std::min<uint32_t>(changed.end, 512); ++reg)
        registers[reg].clear();
      if (changed.first < changed.end) registers[changed.first] = result;
      if (op.opcode() == kSelf) registers[op.a() + 1] = self;
    }
  }

  std::map<std::string, Known> globals_;
  std::vector<FieldUse> uses_;
};

}  // namespace

std::vector<FieldUse> field_uses(const CompiledFunction& chunk) { return Fields().find(chunk); }

}  // namespace lunagrad
