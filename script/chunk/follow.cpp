#include "script/chunk/follow.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "script/meta/signature.h"

namespace lunagrad {
namespace {

// Methods whose result is a tensor for every object: only tensors have them.
constexpr std::string_view kComparisons[] = {"eq",
                                             "ne",
                                             "gt",
                                             "ge",
                                             "lt",
                                             "le",
                                             "greater",
                                             "less",
                                             "not_equal",
                                             "isnan",
                                             "isinf",
                                             "isfinite",
                                             "isclose",
                                             "isposinf",
                                             "isneginf",
                                             "any",
                                             "all",
                                             "less_equal",
                                             "greater_equal",
                                             "logical_and",
                                             "logical_or",
                                             "logical_not",
                                             "logical_xor"};

bool is_op(std::string_view name) {
  const Signature* const signature = find_signature(name);
  return signature && !signature->op->hidden();
}

// The upvalues that the function, or a function inside it, assigns.
std::vector<bool> assigned_upvalues(const CompiledFunction& function) {
  std::vector<bool> assigned(function.upvalues.size());
  for (const Instruction op : function.code)
    if (op.opcode() == kSetUpvalue && op.b() < assigned.size()) assigned[op.b()] = true;
  for (const CompiledFunction& inner : function.functions) {
    const std::vector<bool> inside = assigned_upvalues(inner);
    for (size_t i = 0; i < inside.size(); ++i)
      if (const CompiledFunction::Upvalue& from = inner.upvalues[i];
          inside[i] && !from.in_stack && from.index < assigned.size())
        assigned[from.index] = true;
  }
  return assigned;
}

// Whether the chunk may assign a global: by its name, or as a field of _G or _ENV. `environment`: the upvalue
// that holds _ENV.
bool may_assign_globals(const CompiledFunction& function, size_t environment) {
  for (const Instruction op : function.code)
    if (op.opcode() == kSetTabUp || (op.opcode() == kGetUpvalue && op.b() == environment)) return true;
  if (std::find(function.constants.begin(), function.constants.end(), "_G") != function.constants.end())
    return true;
  return std::any_of(function.functions.begin(), function.functions.end(),
                     [&](const CompiledFunction& inner) {
                       for (size_t i = 0; i < inner.upvalues.size(); ++i)
                         if (!inner.upvalues[i].in_stack && inner.upvalues[i].index == environment)
                           return may_assign_globals(inner, i);
                       return may_assign_globals(inner, inner.upvalues.size());
                     });
}

// A local variable that is never assigned after its declaration.
struct Constant {
  size_t begin, end;
  uint32_t reg;
};

std::vector<Constant> constants_of(const CompiledFunction& function) {
  const std::vector<CompiledFunction::Local>& locals = function.locals;
  std::vector<bool> changes(locals.size());
  std::vector<uint32_t> registers(locals.size());
  // The live locals, by register. A block ends before the blocks around it.
  std::vector<size_t> alive;
  size_t next = 0;
  for (size_t at = 0; at < function.code.size(); ++at) {
    while (!alive.empty() && locals[alive.back()].end <= at) alive.pop_back();
    for (; next < locals.size() && locals[next].begin <= at; ++next) {
      registers[next] = uint32_t(alive.size());
      if (at < locals[next].end) alive.push_back(next);
    }
    const Instruction op = function.code[at];
    // A call changes no register below its own, and locals have lower registers.
    const Registers changed = written(op);
    for (uint32_t reg = changed.first; reg < changed.end && reg < alive.size(); ++reg)
      changes[alive[reg]] = true;
    if (op.opcode() != kClosure || op.bx() >= function.functions.size()) continue;
    const CompiledFunction& inner = function.functions[op.bx()];
    const std::vector<bool> assigned = assigned_upvalues(inner);
    for (size_t i = 0; i < assigned.size(); ++i)
      if (const CompiledFunction::Upvalue& from = inner.upvalues[i];
          assigned[i] && from.in_stack && from.index < alive.size())
        changes[alive[from.index]] = true;
  }
  std::vector<Constant> found;
  for (size_t i = 0; i < next; ++i)
    if (!changes[i]) found.push_back({locals[i].begin, locals[i].end, registers[i]});
  return found;
}

constexpr size_t kNowhere = SIZE_MAX;

// For each instruction the first instruction that jumps to it, or kNowhere. The upper 25 bits of a jump, less
// 2^24 - 1, are its distance.
std::vector<size_t> jumps_to(const CompiledFunction& function) {
  std::vector<size_t> jumps(function.code.size() + 3, kNowhere);
  for (size_t at = 0; at < function.code.size(); ++at) {
    const Instruction op = function.code[at];
    const int64_t next = int64_t(at) + 1;
    const auto note = [&](int64_t target) {
      if (target >= 0 && size_t(target) < jumps.size() && jumps[size_t(target)] == kNowhere)
        jumps[size_t(target)] = at;
    };
    constexpr int64_t kZero = (1 << 24) - 1;
    switch (op.opcode()) {
      case kJump:
        note(next + int64_t(op.bits >> 7) - kZero);
        break;
      case kForLoop:
      case kTForLoop:
        note(next - int64_t(op.bx()));
        break;
      case kForPrep:
      case kTForPrep:
        note(next + int64_t(op.bx()) + 1);
        note(next + int64_t(op.bx()));
        break;
      default:
        if ((op.opcode() >= kEq && op.opcode() <= kTestSet) || op.opcode() == kLoadFalseSkip) note(next + 1);
        break;
    }
  }
  return jumps;
}

class Follower {
 public:
  explicit Follower(const std::vector<ChunkObserver*>& observers) : observers_(observers) {}

  void follow_all(const CompiledFunction& chunk) {
    const std::vector<Known> upvalues{{KnownKind::globals, ""}};
    // The globals are collected first, since functions that precede an assignment read the global, too.
    if (may_assign_globals(chunk, 0)) follow(chunk, upvalues, {});
    heard_ = true;
    follow(chunk, upvalues, {});
  }

 private:
  template <class F>
  void tell(F&& f) {
    if (heard_)
      for (ChunkObserver* observer : observers_) f(*observer);
  }

  // Reads table[key]; returns its value.
  Known read(const Known& table, std::string_view key, int line, bool method) {
    if (!table.is(KnownKind::nothing) && !key.empty())
      tell([&](ChunkObserver& observer) { observer.reads(table, key, line, method); });
    if (table.is(KnownKind::globals)) {
      if (key == "_G") return {KnownKind::globals, key};
      if (key == "require" || key == "assert" || key == "rawset" || key == "setmetatable")
        return {KnownKind::function, key};
      // Other kinds are not followed: before its assignment a global is nil.
      const auto global = globals_.find(key);
      const bool known = global != globals_.end() &&
                         (global->second.is(KnownKind::library) || global->second.is(KnownKind::type));
      return known ? global->second : Known();
    }
    if (table.is(KnownKind::library) && !key.empty()) return {KnownKind::library, kept(table.name, ".", key)};
    return {};
  }

  void assign(const Known& table, std::string_view key, const Known& value, int line) {
    tell([&](ChunkObserver& observer) { observer.assigns(table, key, line); });
    if (!table.is(KnownKind::globals)) return;
    const auto [global, added] = globals_.emplace(key, value);
    if (!added && !(global->second == value)) global->second = {};
  }

  // Whether the library function at this path returns a tensor: "lg.gt", "lg.nn.functional.relu".
  static bool makes_tensor(std::string_view path) {
    constexpr std::string_view kFunctional = "lg.nn.functional.", kRoot = "lg.";
    if (path.starts_with(kFunctional)) return is_op(path.substr(kFunctional.size()));
    return path == "lg.tensor" || (path.starts_with(kRoot) && is_op(path.substr(kRoot.size())));
  }

  static bool makes_tensor(const Known& method) {
    return (method.of_tensor || std::find(std::begin(kComparisons), std::end(kComparisons), method.name) !=
                                    std::end(kComparisons)) &&
           is_op(method.name);
  }

  // The first result of a call.
  Known call(const Known& function, std::span<const Known> arguments, std::pair<const void*, size_t> place,
             int line) {
    tell([&](ChunkObserver& observer) { observer.calls(function, arguments, line); });
    const Known first = arguments.empty() ? Known() : arguments[0];
    if (function.is(KnownKind::function) && function.name == "require" && first.is(KnownKind::text)) {
      constexpr std::string_view kRoot = "lunagrad";
      if (first.name == kRoot) return {KnownKind::library, "lg"};
      if (first.name.starts_with("lunagrad.") && first.name != "lunagrad.core")
        return {KnownKind::library, kept("lg", "", first.name.substr(kRoot.size()))};
    }
    if (function.is(KnownKind::method) && makes_tensor(function))
      return {KnownKind::tensor, kept("x:", function.name, "(…)")};
    if (function.is(KnownKind::function) && function.name == "loss") return {KnownKind::tensor, "the loss"};
    if (function.is(KnownKind::type)) return {KnownKind::object, function.name, function.type};
    if (!function.is(KnownKind::library)) return {};
    if (function.name == "lg.nn.class") return make_class(arguments, place);
    if (makes_tensor(function.name)) return {KnownKind::tensor, kept(function.name, "", "(…)")};
    // nn.MSELoss() is an object that returns a tensor when it is called.
    if (function.name.starts_with("lg.nn.") && function.name.ends_with("Loss"))
      return {KnownKind::function, "loss"};
    return {};
  }

  Known make_class(std::span<const Known> arguments, std::pair<const void*, size_t> place) {
    const int number = classes_.emplace(place, int(classes_.size())).first->second;
    Known made{KnownKind::type, arguments.empty() ? std::string_view() : arguments[0].name, number};
    const Known parent = arguments.size() > 1 ? arguments[1] : Known{KnownKind::library, "lg.nn.Module"};
    tell([&](ChunkObserver& observer) { observer.makes_class(made, parent); });
    return made;
  }

  void test(const Known& value, int line) {
    if (!value.is(KnownKind::nothing)) tell([&](ChunkObserver& observer) { observer.tests(value, line); });
  }

  // The result of an operation on numbers or tensors.
  static Known computed(const Known& left, const Known& right) {
    return left.is(KnownKind::tensor) || right.is(KnownKind::tensor) ? Known{KnownKind::tensor, ""}
                                                                     : Known{KnownKind::number, ""};
  }

  // self_value: the value of a method's first parameter.
  void follow(const CompiledFunction& function, const std::vector<Known>& upvalues, const Known& self_value) {
    // Room for the arguments of a call whose last argument gives several values.
    constexpr uint32_t kOpen = 8;
    std::vector<Known> registers(function.registers + kOpen);
    if (!function.locals.empty() && function.locals[0].name == "self") registers[0] = self_value;
    const std::vector<Constant> constants = constants_of(function);
    const std::vector<size_t> jumps = jumps_to(function);
    const auto text = [&](size_t k) {
      return k < function.constants.size() ? std::string_view(function.constants[k]) : std::string_view();
    };
    const auto is_number = [&](size_t k) { return k < function.numbers.size() && function.numbers[k]; };
    const auto is_constant = [&](size_t at, uint32_t reg) {
      return std::any_of(constants.begin(), constants.end(), [&](const Constant& local) {
        return local.reg == reg && local.begin <= at && at < local.end;
      });
    };
    // After a branch joins, a register may hold another value: `local net = given or Net()`. Only constant
    // locals stay known. A loop jumps back.
    const auto outlasts = [&](size_t at, uint32_t reg) {
      const bool loop = jumps[at] >= at;
      return std::any_of(constants.begin(), constants.end(), [&](const Constant& local) {
        return local.reg == reg && (local.begin == 0 || local.begin < at + loop) && at < local.end;
      });
    };
    // In `condition and x or y` the x is not tested: an earlier condition jumps to the code after it.
    const auto chooses = [&](size_t at, const Instruction op) { return op.k() && jumps[at + 2] < at; };
    for (size_t at = 0; at < function.code.size(); ++at) {
      if (jumps[at] != kNowhere)
        for (uint32_t reg = 0; reg < registers.size(); ++reg)
          if (!registers[reg].is(KnownKind::nothing) && !outlasts(at, reg)) registers[reg] = {};
      const Instruction op = function.code[at];
      const int line = function.lines[at];
      const auto upvalue = [&](size_t i) { return i < upvalues.size() ? upvalues[i] : Known(); };
      Known result, self;
      switch (op.opcode()) {
        case kMove:
          result = registers[op.b()];
          break;
        case kLoadI:
        case kLoadF:
          result = {KnownKind::number, ""};
          break;
        case kLoadK:
          result = is_number(op.bx()) ? Known{KnownKind::number, ""} : Known{KnownKind::text, text(op.bx())};
          break;
        case kGetUpvalue:
          result = upvalue(op.b());
          break;
        case kGetTabUp:
          result = read(upvalue(op.b()), text(op.c()), line, false);
          break;
        case kGetField:
          result = read(registers[op.b()], text(op.c()), line, false);
          break;
        // A chunk with more than 255 constants has field names in registers.
        case kGetTable:
          result = read(registers[op.b()], key_in(registers[op.c()]), line, false);
          break;
        case kSelf: {
          self = registers[op.b()];
          const std::string_view name = op.k() ? text(op.c()) : key_in(registers[op.c()]);
          result = read(self, name, line, true);
          if (!result.is(KnownKind::library))
            result = {KnownKind::method, name, 0, self.is(KnownKind::tensor)};
          break;
        }
        case kSetTabUp:
          assign(upvalue(op.a()), text(op.b()), op.k() ? Known() : registers[op.c()], line);
          break;
        case kSetField:
          assign(registers[op.a()], text(op.b()), op.k() ? Known() : registers[op.c()], line);
          break;
        case kSetTable:
          assign(registers[op.a()], key_in(registers[op.b()]), op.k() ? Known() : registers[op.c()], line);
          break;
        case kCall:
        case kTailCall: {
          const std::span<const Known> called(&registers[op.a()], op.b() ? op.b() : kOpen);
          result = call(called[0], called.subspan(1), {&function, at}, line);
          break;
        }
        case kMinus:
          result = computed(registers[op.b()], {});
          break;
        case kLength:
          result = {KnownKind::number, ""};
          break;
        case kNot:
          test(registers[op.b()], line);
          break;
        case kTest:
          if (!chooses(at, op)) test(registers[op.a()], line);
          break;
        case kTestSet:
          if (!chooses(at, op)) test(registers[op.b()], line);
          break;
        case kEq:
        case kEqK:
        case kEqI: {
          const bool registered = op.opcode() == kEq;
          const Known right = registered                                 ? registers[op.b()]
                              : op.opcode() == kEqI || is_number(op.b()) ? Known{KnownKind::number, ""}
                                                                         : Known();
          tell([&](ChunkObserver& observer) {
            observer.compares(registers[op.a()], right, registered && op.a() == op.b(), line);
          });
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
            follow(inner, seen, object_of_method(function, at, registers));
          }
          break;
        default:
          if (op.opcode() >= kAddI && op.opcode() <= kShiftLeftI)
            result = computed(registers[op.b()], {});
          else if (op.opcode() >= kAdd && op.opcode() <= kShiftRight)
            result = computed(registers[op.b()], registers[op.c()]);
          break;
      }
      const Registers changed = written(op);
      for (uint32_t reg = changed.first; reg < std::min<size_t>(changed.end, registers.size()); ++reg)
        registers[reg] = {};
      if (changed.first < changed.end) registers[changed.first] = result;
      if (op.opcode() == kSelf) registers[op.a() + 1] = self;
    }
  }

  // The key as text; "" when it is not known.
  static std::string_view key_in(const Known& value) {
    return value.is(KnownKind::text) ? value.name : std::string_view();
  }

  // The value of self in a closure that the next instruction stores in a field of a class: function
  // Net:forward(x).
  static Known object_of_method(const CompiledFunction& function, size_t at,
                                const std::vector<Known>& registers) {
    if (at + 1 >= function.code.size()) return {};
    const Instruction next = function.code[at + 1];
    if (next.opcode() != kSetField || next.k() || next.c() != function.code[at].a()) return {};
    const Known& holder = registers[next.a()];
    return holder.is(KnownKind::type) ? Known{KnownKind::object, holder.name, holder.type} : Known();
  }

  // Stores a joined name, which is no constant of the chunk.
  std::string_view kept(std::string_view first, std::string_view second, std::string_view third) {
    std::string& name = names_.emplace_back(first);
    return name.append(second).append(third);
  }

  const std::vector<ChunkObserver*>& observers_;
  bool heard_ = false;
  std::deque<std::string> names_;
  std::map<std::string_view, Known> globals_;
  std::map<std::pair<const void*, size_t>, int> classes_;  // by the function and instruction that make them
};

}  // namespace

void follow(const CompiledFunction& chunk, const std::vector<ChunkObserver*>& observers) {
  Follower(observers).follow_all(chunk);
}

}  // namespace lunagrad
