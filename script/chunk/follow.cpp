#include "script/chunk/follow.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "script/meta/signature.h"

namespace lunagrad {
namespace {

using Kind = Known::Kind;

// Methods that give a tensor whatever they are called on: no other object has them.
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

// The instructions that a jump leads to, with the first that leads there. The upper 25 bits of a jump, less
// 2^24 - 1, are its distance.
std::map<size_t, size_t> jump_targets(const CompiledFunction& function) {
  std::map<size_t, size_t> targets;
  for (size_t at = 0; at < function.code.size(); ++at) {
    const Instruction op = function.code[at];
    const int64_t next = int64_t(at) + 1;
    constexpr int64_t kZero = (1 << 24) - 1;
    switch (op.opcode()) {
      case kJump:
        targets.emplace(size_t(next + int64_t(op.bits >> 7) - kZero), at);
        break;
      case kForLoop:
      case kTForLoop:
        targets.emplace(size_t(next - int64_t(op.bx())), at);
        break;
      case kForPrep:
      case kTForPrep:
        targets.emplace(size_t(next + int64_t(op.bx()) + 1), at);
        targets.emplace(size_t(next + int64_t(op.bx())), at);
        break;
      default:
        if ((op.opcode() >= kEq && op.opcode() <= kTestSet) || op.opcode() == kLoadFalseSkip)
          targets.emplace(size_t(next + 1), at);
        break;
    }
  }
  return targets;
}

class Follower {
 public:
  explicit Follower(const std::vector<ChunkObserver*>& observers) : observers_(observers) {}

  void follow_all(const CompiledFunction& chunk) {
    // The first pass finds the globals, the second reads them in functions that precede the assignment.
    for (const bool last : {false, true}) {
      heard_ = last;
      follow(chunk, {Known{Kind::globals, ""}}, {});
    }
  }

 private:
  template <class F>
  void tell(F&& f) {
    if (heard_)
      for (ChunkObserver* observer : observers_) f(*observer);
  }

  // The value of table[key], which the script reads.
  Known read(const Known& table, const std::string& key, int line, bool method) {
    if (!table.is(Kind::nothing) && !key.empty())
      tell([&](ChunkObserver& observer) { observer.reads(table, key, line, method); });
    if (table.is(Kind::globals)) {
      if (key == "_G") return {Kind::globals, key};
      if (key == "require" || key == "assert" || key == "rawset" || key == "setmetatable")
        return {Kind::function, key};
      // Before its assignment a global is nil.
      const auto global = globals_.find(key);
      const bool known =
          global != globals_.end() && (global->second.is(Kind::library) || global->second.is(Kind::type));
      return known ? global->second : Known();
    }
    if (table.is(Kind::library) && !key.empty()) return {Kind::library, table.name + "." + key};
    return {};
  }

  void assign(const Known& table, const std::string& key, const Known& value, int line) {
    tell([&](ChunkObserver& observer) { observer.assigns(table, key, line); });
    if (!table.is(Kind::globals)) return;
    const auto [global, added] = globals_.emplace(key, value);
    if (!added && !(global->second == value)) global->second = {};
  }

  // Whether what the library has there gives a tensor: "lg.gt", "lg.nn.functional.relu".
  static bool makes_tensor(const std::string& path) {
    constexpr std::string_view kFunctional = "lg.nn.functional.", kRoot = "lg.";
    if (path.starts_with(kFunctional)) return is_op(path.substr(kFunctional.size()));
    return path == "lg.tensor" || (path.starts_with(kRoot) && is_op(path.substr(kRoot.size())));
  }

  static bool makes_tensor(const Known& method) {
    return is_op(method.name) &&
           (method.of_tensor || std::find(std::begin(kComparisons), std::end(kComparisons), method.name) !=
                                    std::end(kComparisons));
  }

  // The first result of a call.
  Known call(const Known& function, const std::vector<Known>& arguments, std::pair<const void*, size_t> place,
             int line) {
    tell([&](ChunkObserver& observer) { observer.calls(function, arguments, line); });
    const Known first = arguments.empty() ? Known() : arguments[0];
    if (function.is(Kind::function) && function.name == "require" && first.is(Kind::text)) {
      constexpr std::string_view kRoot = "lunagrad";
      if (first.name == kRoot) return {Kind::library, "lg"};
      if (first.name.starts_with("lunagrad.") && first.name != "lunagrad.core")
        return {Kind::library, "lg" + first.name.substr(kRoot.size())};
    }
    if (function.is(Kind::method) && makes_tensor(function))
      return {Kind::tensor, "x:" + function.name + "(…)"};
    if (function.is(Kind::function) && function.name == "loss") return {Kind::tensor, "the loss"};
    if (function.is(Kind::type)) return {Kind::object, function.name, function.type};
    if (!function.is(Kind::library)) return {};
    if (function.name == "lg.nn.class") return make_class(arguments, place);
    if (makes_tensor(function.name)) return {Kind::tensor, function.name + "(…)"};
    // nn.MSELoss() is an object whose calls give a tensor.
    if (function.name.starts_with("lg.nn.") && function.name.ends_with("Loss"))
      return {Kind::function, "loss"};
    return {};
  }

  Known make_class(const std::vector<Known>& arguments, std::pair<const void*, size_t> place) {
    const int number = classes_.emplace(place, int(classes_.size())).first->second;
    Known made{Kind::type, arguments.empty() ? "" : arguments[0].name, number};
    const Known parent = arguments.size() > 1 ? arguments[1] : Known{Kind::library, "lg.nn.Module"};
    tell([&](ChunkObserver& observer) { observer.makes_class(made, parent); });
    return made;
  }

  void test(const Known& value, int line) {
    if (!value.is(Kind::nothing)) tell([&](ChunkObserver& observer) { observer.tests(value, line); });
  }

  // Of an operation on numbers or tensors.
  static Known computed(const Known& left, const Known& right) {
    return left.is(Kind::tensor) || right.is(Kind::tensor) ? Known{Kind::tensor, ""}
                                                           : Known{Kind::number, ""};
  }

  // self: what the first parameter of a method holds.
  void follow(const CompiledFunction& function, const std::vector<Known>& upvalues, const Known& self_value) {
    std::vector<Known> registers(512);
    if (!function.locals.empty() && function.locals[0].name == "self") registers[0] = self_value;
    const std::vector<Constant> constants = constants_of(function);
    const std::map<size_t, size_t> targets = jump_targets(function);
    const auto text = [&](size_t k) { return k < function.constants.size() ? function.constants[k] : ""; };
    const auto is_number = [&](size_t k) { return k < function.numbers.size() && function.numbers[k]; };
    const auto is_constant = [&](size_t at, uint32_t reg) {
      return std::any_of(constants.begin(), constants.end(), [&](const Constant& local) {
        return local.reg == reg && local.begin <= at && at < local.end;
      });
    };
    // A value that a branch has made is not the only one: `local net = given or Net()`. A loop leads back.
    const auto outlasts = [&](size_t at, uint32_t reg) {
      const bool loop = targets.at(at) >= at;
      return std::any_of(constants.begin(), constants.end(), [&](const Constant& local) {
        return local.reg == reg && (local.begin == 0 || local.begin < at + loop) && at < local.end;
      });
    };
    // In `condition and x or y` the x is not asked: a condition before it leads behind it.
    const auto chooses = [&](size_t at, const Instruction op) {
      const auto behind = targets.find(at + 2);
      return op.k() && behind != targets.end() && behind->second < at;
    };
    for (size_t at = 0; at < function.code.size(); ++at) {
      if (targets.count(at))
        for (uint32_t reg = 0; reg < registers.size(); ++reg)
          if (!registers[reg].is(Kind::nothing) && !outlasts(at, reg)) registers[reg] = {};
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
          result = {Kind::number, ""};
          break;
        case kLoadK:
          result = is_number(op.bx()) ? Known{Kind::number, ""} : Known{Kind::text, text(op.bx())};
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
        // A chunk of more than 255 constants has its names in registers.
        case kGetTable:
          result = read(registers[op.b()], key_in(registers[op.c()]), line, false);
          break;
        case kSelf: {
          self = registers[op.b()];
          const std::string name = op.k() ? text(op.c()) : key_in(registers[op.c()]);
          result = read(self, name, line, true);
          if (!result.is(Kind::library)) result = {Kind::method, name, 0, self.is(Kind::tensor)};
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
          constexpr uint32_t kOpen = 8;  // arguments of a call whose last one gives several values
          std::vector<Known> arguments;
          for (uint32_t i = 1; i < (op.b() ? op.b() : kOpen); ++i) arguments.push_back(registers[op.a() + i]);
          result = call(registers[op.a()], arguments, {&function, at}, line);
          break;
        }
        case kMinus:
          result = computed(registers[op.b()], {});
          break;
        case kLength:
          result = {Kind::number, ""};
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
                              : op.opcode() == kEqI || is_number(op.b()) ? Known{Kind::number, ""}
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
      for (uint32_t reg = changed.first; reg < std::min<uint32_t>(changed.end, 512); ++reg)
        registers[reg] = {};
      if (changed.first < changed.end) registers[changed.first] = result;
      if (op.opcode() == kSelf) registers[op.a() + 1] = self;
    }
  }

  // The name by which a table is asked; "" when it is not known.
  static std::string key_in(const Known& value) { return value.is(Kind::text) ? value.name : std::string(); }

  // What self is in a closure that the next instruction makes a field of a class: function Net:forward(x).
  static Known object_of_method(const CompiledFunction& function, size_t at,
                                const std::vector<Known>& registers) {
    if (at + 1 >= function.code.size()) return {};
    const Instruction next = function.code[at + 1];
    if (next.opcode() != kSetField || next.k() || next.c() != function.code[at].a()) return {};
    const Known& holder = registers[next.a()];
    return holder.is(Kind::type) ? Known{Kind::object, holder.name, holder.type} : Known();
  }

  const std::vector<ChunkObserver*>& observers_;
  bool heard_ = false;
  std::map<std::string, Known> globals_;
  std::map<std::pair<const void*, size_t>, int> classes_;  // by the function and instruction that makes them
};

}  // namespace

void follow(const CompiledFunction& chunk, const std::vector<ChunkObserver*>& observers) {
  Follower(observers).follow_all(chunk);
}

}  // namespace lunagrad
