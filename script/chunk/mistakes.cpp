#include "script/chunk/mistakes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "script/chunk/globals.h"
#include "script/chunk/lost_nils.h"
#include "script/meta/python.h"

namespace lunagrad {
namespace {

std::string named(const Known& tensor) {
  return std::string(tensor.name.empty() ? "this value" : tensor.name);
}

class Comparisons : public ChunkObserver {
 public:
  explicit Comparisons(std::vector<Mistake>& found) : found_(found) {}

  void tests(const Known& value, int line) override {
    if (value.is(KnownKind::tensor))
      found_.push_back({Mistake::Kind::condition, line,
                        named(value) +
                            " is a tensor, which is always true as a condition; :item() gives the boolean or "
                            "number of one element, :any():item() and :all():item() are for several"});
    else if (value.is(KnownKind::number))
      found_.push_back({Mistake::Kind::condition, line,
                        "a number is always true as a condition, also 0; compare it, as in n ~= 0"});
  }

  void calls(const Known& function, std::span<const Known> arguments, int line) override {
    if (function.is(KnownKind::function) && function.name == "assert" && !arguments.empty())
      tests(arguments[0], line);
  }

  void compares(const Known& left, const Known& right, bool same, int line) override {
    const bool tensors = left.is(KnownKind::tensor) && right.is(KnownKind::tensor);
    if (tensors || (same && left.is(KnownKind::tensor)))
      found_.push_back({same ? Mistake::Kind::never_equal : Mistake::Kind::same_tensor, line,
                        "== asks whether two tensors are the same one; x:eq(y) compares their elements, "
                        "x:equal(y) the whole, and rawequal(x, y) says that the same one is meant"});
    else if ((left.is(KnownKind::tensor) && right.is(KnownKind::number)) ||
             (left.is(KnownKind::number) && right.is(KnownKind::tensor)))
      found_.push_back(
          {Mistake::Kind::never_equal, line,
           named(left.is(KnownKind::tensor) ? left : right) +
               " is a tensor, which never is == a number; x:item() is the number of one element, "
               "x:eq(number) compares each"});
  }

 private:
  std::vector<Mistake>& found_;
};

}  // namespace

std::vector<Mistake> silent_mistakes(const CompiledFunction& chunk, std::string_view source,
                                     std::vector<ChunkObserver*> observers) {
  std::vector<Mistake> found;
  for (const int line : lost_nils(chunk)) found.push_back({Mistake::Kind::lost_nil, line, kLostNil});
  Comparisons comparisons(found);
  observers.push_back(&comparisons);
  follow(chunk, observers);
  for (auto& [line, text] : python_tuples(source))
    found.push_back({Mistake::Kind::tuple, line, std::move(text)});
  for (const int line : continued_lines(source))
    found.push_back({Mistake::Kind::continued_line, line,
                     "this line begins with '(' and so calls what the line before ends with; end that line "
                     "with ';', or write the call on one line"});
  std::stable_sort(found.begin(), found.end(), [](const Mistake& a, const Mistake& b) {
    return std::pair(a.line, a.kind) < std::pair(b.line, b.kind);
  });
  const auto same = [](const Mistake& a, const Mistake& b) { return a.line == b.line && a.kind == b.kind; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

std::string assigned_global(const std::string& name) {
  return "assigns the global '" + name + "'; write `local`, or _G." + name + " where one is meant";
}

std::vector<std::string> mistake_warnings(lua_State* L, std::string_view source, const std::string& file,
                                          bool globals) {
  const CompiledFunction chunk = read_chunk(L);
  GlobalUses uses;
  std::vector<ChunkObserver*> observers;
  if (globals) observers.push_back(&uses);
  std::vector<Mistake> found = silent_mistakes(chunk, source, observers);
  for (const GlobalUse& use : uses.take()) {
    if (use.kind != GlobalUse::Kind::assigned) continue;
    lua_pushglobaltable(L);
    lua_pushlstring(L, use.name.data(), use.name.size());
    const bool exists = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    if (!exists) found.push_back({Mistake::Kind::global, use.line, assigned_global(use.name)});
  }
  std::vector<std::string> warnings;
  std::set<Mistake::Kind> reported{Mistake::Kind::same_tensor};
  for (const Mistake& mistake : found)
    if (reported.insert(mistake.kind).second)
      warnings.push_back(file + ":" + std::to_string(mistake.line) + ": " + mistake.text);
  return warnings;
}

}  // namespace lunagrad
