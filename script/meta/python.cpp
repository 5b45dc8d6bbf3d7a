#include "script/meta/python.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace lunagrad {
namespace {

using Advice = std::pair<std::string_view, std::string_view>;

constexpr Advice kGlobals[] = {
    {"abs", "math.abs(x) of a number, x:abs() of a tensor"},
    {"dict", "a table by name is {name = value}"},
    {"enumerate", "for i, x in ipairs(list) do … end; beside a DataLoader, count: i = i + 1"},
    {"f", "(\"loss %.4f\"):format(loss)"},
    {"F", "local F = lg.nn.functional"},
    {"getattr", "object[name]"},
    {"hasattr", "lg.has(object, name)"},
    {"isinstance", "lg.nn.isinstance(m, lg.nn.Linear), lg.is_tensor(x), type(x)"},
    {"iter", "local next_batch = loader:cycle() gives a batch at each call"},
    {"len", "the length of x is #x"},
    {"lg", "local lg = require \"lunagrad\""},
    {"list", "a list is a table: {1, 2, 3}"},
    {"max", "math.max(a, b) of numbers, lg.max of tensors"},
    {"min", "math.min(a, b) of numbers, lg.min of tensors"},
    {"nn", "local nn = lg.nn"},
    {"np", "there is no NumPy; tensors have its functions, numbers those of math"},
    {"optim", "local optim = lg.optim"},
    {"range", "for i = 1, n do … end; for i = 0, n - 1 where numbers count from 0"},
    {"reversed", "for i = #list, 1, -1 do … end"},
    {"round", "math.floor(x + 0.5) of a number, x:round() of a tensor"},
    {"setattr", "object[name] = value"},
    {"sorted", "table.sort(list) in place, x:sort(dim) of a tensor"},
    {"str", "tostring(x)"},
    {"sum", "x:sum() of a tensor; numbers of a table are added in a loop"},
    {"super", "a class needs no call of nn.Module's; that of another parent is Net.super.init(self, …)"},
    {"torch", "local lg = require \"lunagrad\"; torch.x is lg.x"},
    {"tuple", "a list is a table: {1, 2, 3}"},
    {"zip", "for i = 1, #a do … a[i], b[i] … end"},
};

// The line without strings and comments, which may hold anything.
std::string code_of(std::string_view line) {
  std::string code;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '-' && line.substr(i).starts_with("--")) break;
    if (c == '"' || c == '\'') {
      code += c;
      for (++i; i < line.size() && line[i] != c; ++i)
        if (line[i] == '\\') ++i;
    }
    code += c;
  }
  while (!code.empty() && std::isspace(static_cast<unsigned char>(code.back()))) code.pop_back();
  return code.substr(std::min(code.find_first_not_of(" \t"), code.size()));
}

std::string_view line_at(std::string_view source, int line) {
  for (; line > 1; --line) {
    const size_t end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  return source.substr(0, source.find('\n'));
}

int line_in(const std::string& message) {
  const size_t colon = message.find(": ");
  const size_t before =
      colon == std::string::npos || colon == 0 ? std::string::npos : message.rfind(':', colon - 1);
  return before == std::string::npos ? 0 : std::atoi(message.c_str() + before + 1);
}

// Beginnings of lines, and what else is in such a line.
struct Start {
  std::string_view begin, with, advice;
};
constexpr Start kStarts[] = {
    {"#", "", "a comment begins with --"},
    {"@", "", "there are no decorators; lg.no_grad(function() … end)"},
    {"import ", "", "local lg = require \"lunagrad\""},
    {"from ", " import ", "local nn = lg.nn"},
    {"def ", "(", "function name(x) … end; in a class function Net:forward(x) … end"},
    {"class ", ":", "local Net = nn.class(\"Net\"), then function Net:init() … end"},
    {"elif ", "", "elseif … then"},
    {"try:", "", "local ok, message = pcall(f)"},
    {"with ", ":", "lg.no_grad(function() … end), lg.autocast(\"bf16\", function() … end)"},
};
constexpr Advice kLines[] = {
    {"continue", "goto continue, with ::continue:: before the end of the loop"},
    {"pass", "an empty block is if … then end"},
};
constexpr Advice kInside[] = {
    {"!=", "not equal is ~="},
    {"**", "a power is x ^ 2"},
    {"+=", "x = x + 1"},
    {"-=", "x = x - 1"},
    {"*=", "x = x * 2"},
    {"/=", "x = x / 2"},
    {" @ ", "a product of matrices is x:matmul(y)"},
    {"f\"", "(\"loss %.4f\"):format(loss)"},
    {"f'", "('loss %.4f'):format(loss)"},
    {" is not ", "~= nil"},
    {" is None", "== nil"},
};
// What Lua says, and what was meant.
constexpr Advice kSaid[] = {
    {"near '['", "a list is a table: {1, 2, 3}"},
    {"')' expected near '='", "arguments by name go into a table at the end: f(x, {dim = 1})"},
    {"')' expected near ','", "a list of sizes or dims is a table: {2, 3}"},
    {"'}' expected near ':'", "a table by name is {name = value}"},
    {"near ':'", "a part is x[{{}, {1, 2}}], with both ends; a block ends with then, do … end"},
};

}  // namespace

std::string python_global(std::string_view name) {
  for (const auto& [word, advice] : kGlobals)
    if (name == word) return "; in Lua: " + std::string(advice);
  return {};
}

std::string python_syntax(std::string_view source, const std::string& message) {
  const int line = line_in(message);
  if (line < 1) return {};
  const auto told = [](std::string_view advice) { return "; in Lua: " + std::string(advice); };
  // Lua may notice a mistake at the line behind it only.
  for (const int looked : {line, line - 1}) {
    const std::string code = looked > 0 ? code_of(line_at(source, looked)) : std::string();
    for (const auto& [begin, with, advice] : kStarts)
      if (code.starts_with(begin) && code.find(with) != std::string::npos) return told(advice);
    for (const auto& [whole, advice] : kLines)
      if (code == whole) return told(advice);
    for (const auto& [part, advice] : kInside)
      if (code.find(part) != std::string::npos) return told(advice);
    if (const size_t at = code.find("lambda ");
        at != std::string::npos && code.find(':', at) != std::string::npos)
      return told("function(x) return … end");
    if (code.ends_with(':')) return told("if … then … end, for … do … end, while … do … end");
  }
  for (const auto& [said, advice] : kSaid)
    if (message.find(said) != std::string::npos) return told(advice);
  return {};
}

}  // namespace lunagrad
