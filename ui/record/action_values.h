#pragma once
// The arguments of actions: written as Lua that reads back exactly, and read with errors that name the action
// and the argument. Plain values and pure functions; any thread.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "script/lua/drive_script.h"

namespace lunagrad {

using ActionValues = DriveScript::Values;
using ActionFields = DriveScript::Fields;

// The text as a Lua string on one line.
std::string quoted_lua(std::string_view text);
// "ui.set_param("lr", 0.0001)", "ui.add_breakpoint{condition = "norm", limit = 10}".
std::string call_as_lua(const std::string& action, const ActionValues& arguments);

// The arguments of a call of `action`. Each function takes the index of an argument, from 0, and its name for
// the error.
class ActionArguments {
 public:
  // Both outlive this object.
  ActionArguments(const std::string& action, const ActionValues& values) : action_(action), values_(values) {}

  bool has(size_t i) const;  // the argument is given and not nil
  const std::string& text(size_t i, const char* name) const;
  bool flag(size_t i, const char* name) const;
  double number(size_t i, const char* name) const;
  int64_t whole(size_t i, const char* name, int64_t least) const;
  // A string unchanged, a number as the shortest text that reads back, a boolean as "true" or "false".
  std::string any_as_text(size_t i, const char* name) const;
  std::vector<std::string> list(size_t i, const char* name) const;
  // Throws for a field that is not in `known`; if `known` is empty, all fields are allowed.
  const ActionFields& fields(size_t i, const char* name,
                             std::initializer_list<std::string_view> known = {}) const;
  [[noreturn]] void refuse(const std::string& why) const;  // throws an Error "ui.NAME: why"

 private:
  [[noreturn]] void wrong(size_t i, const char* name, const char* wanted) const;
  const std::string& action_;
  const ActionValues& values_;
};

std::string field_as_text(const DriveScript::Field&);
// The field with this name. Throws if it has another type.
std::optional<std::string> text_field(const ActionFields&, const std::string& name);
std::optional<double> number_field(const ActionFields&, const std::string& name);
std::optional<bool> flag_field(const ActionFields&, const std::string& name);

}  // namespace lunagrad
