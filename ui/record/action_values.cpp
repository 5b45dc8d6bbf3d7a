#include "ui/record/action_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

constexpr std::array<std::string_view, 22> kLuaKeywords = {
    "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
    "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), part) &&
         std::find(kLuaKeywords.begin(), kLuaKeywords.end(), text) == kLuaKeywords.end();
}

struct AsLua {
  std::string operator()(std::monostate) const { return "nil"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "0/0";
    if (std::isinf(value)) return value > 0 ? "math.huge" : "-math.huge";
    return general_number(value);
  }
  std::string operator()(const std::string& value) const { return quoted_lua(value); }
  std::string operator()(const std::vector<std::string>& list) const {
    std::string text;
    for (const std::string& entry : list) text += (text.empty() ? "" : ", ") + quoted_lua(entry);
    return '{' + text + '}';
  }
  std::string operator()(const ActionFields& fields) const {
    std::string text;
    for (const auto& [name, value] : fields)
      text += (text.empty() ? "" : ", ") + (is_name(name) ? name : '[' + quoted_lua(name) + ']') + " = " +
              std::visit(*this, value);
    return '{' + text + '}';
  }
};

template <class T>
std::optional<T> field(const ActionFields& fields, const std::string& name, const char* wanted) {
  const auto found = fields.find(name);
  if (found == fields.end()) return {};
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  fail("field ", name, " must be ", wanted, ", got ", std::visit(AsLua(), found->second));
}

}  // namespace

std::string quoted_lua(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 32 || byte == 127) {
      char code[8];
      std::snprintf(code, sizeof code, "\\%03u", unsigned(byte));
      quoted += code;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string call_as_lua(const std::string& action, const ActionValues& arguments) {
  std::string text;
  for (const DriveScript::Value& value : arguments)
    text += (text.empty() ? "" : ", ") + std::visit(AsLua(), value);
  const bool is_table = arguments.size() == 1 && text.front() == '{';
  return "ui." + action + (is_table ? text : '(' + text + ')');
}

bool ActionArguments::has(size_t i) const {
  return i < values_.size() && !std::holds_alternative<std::monostate>(values_[i]);
}

void ActionArguments::refuse(const std::string& why) const { fail("ui.", action_, ": ", why); }

void ActionArguments::wrong(size_t i, const char* name, const char* wanted) const {
  const std::string given = has(i) ? std::visit(AsLua(), values_[i]) : "nothing";
  refuse(std::string(name) + " (argument " + std::to_string(i + 1) + ") must be " + wanted + ", got " +
         given);
}

const std::string& ActionArguments::text(size_t i, const char* name) const {
  if (has(i))
    if (const auto* text = std::get_if<std::string>(&values_[i])) return *text;
  wrong(i, name, "a string");
}

bool ActionArguments::flag(size_t i, const char* name) const {
  if (has(i))
    if (const bool* flag = std::get_if<bool>(&values_[i])) return *flag;
  wrong(i, name, "true or false");
}

double ActionArguments::number(size_t i, const char* name) const {
  if (has(i))
    if (const double* number = std::get_if<double>(&values_[i])) return *number;
  wrong(i, name, "a number");
}

int64_t ActionArguments::whole(size_t i, const char* name, int64_t least) const {
  const double value = number(i, name);
  if (value != std::floor(value) || std::abs(value) > 0x1p53 || value < double(least))
    wrong(i, name, ("a whole number from " + std::to_string(least)).c_str());
  return int64_t(value);
}

std::string ActionArguments::any_as_text(size_t i, const char* name) const {
  if (has(i)) {
    if (const auto* text = std::get_if<std::string>(&values_[i])) return *text;
    if (const double* value = std::get_if<double>(&values_[i])) return general_number(*value);
    if (const bool* flag = std::get_if<bool>(&values_[i])) return *flag ? "true" : "false";
  }
  wrong(i, name, "a string, a number or a boolean");
}

std::vector<std::string> ActionArguments::list(size_t i, const char* name) const {
  if (has(i)) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&values_[i])) return *list;
    if (const auto* fields = std::get_if<ActionFields>(&values_[i]); fields && fields->empty()) return {};
  }
  wrong(i, name, "a list of strings");
}

const ActionFields& ActionArguments::fields(size_t i, const char* name,
                                            std::initializer_list<std::string_view> known) const {
  const auto* fields = has(i) ? std::get_if<ActionFields>(&values_[i]) : nullptr;
  if (!fields) wrong(i, name, "a table with named fields");
  std::string all;
  for (const std::string_view one : known) all += (all.empty() ? "" : ", ") + std::string(one);
  for (const auto& [field, value] : *fields)
    if (known.size() > 0 && std::find(known.begin(), known.end(), field) == known.end())
      refuse("there is no field \"" + field + "\"; there are " + all);
  return *fields;
}

std::string field_as_text(const DriveScript::Field& field) {
  const auto* text = std::get_if<std::string>(&field);
  return text ? *text : std::visit(AsLua(), field);
}

std::optional<std::string> text_field(const ActionFields& fields, const std::string& name) {
  return field<std::string>(fields, name, "a string");
}

std::optional<double> number_field(const ActionFields& fields, const std::string& name) {
  return field<double>(fields, name, "a number");
}

std::optional<bool> flag_field(const ActionFields& fields, const std::string& name) {
  return field<bool>(fields, name, "true or false");
}

}  // namespace lunagrad
