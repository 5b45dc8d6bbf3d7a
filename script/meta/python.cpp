#include "script/meta/python.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace lunagrad {
namespace {

using Advice = std::pair<std::string_view, std::string_view>;

constexpr Advice kGlobals[] = {
    {"abs", "math.abs(x) of a number, x:abs() of a tensor"},
    {"all", "x:all() of a tensor; a loop over a list"},
    {"any", "x:any() of a tensor; a loop over a list"},
    {"argparse", "lg.run.param(\"lr\", 0.1), which --set lr=0.2 sets"},
    {"copy", "lg.nn.utils.deepcopy(net); x:clone() of a tensor"},
    {"defaultdict", "t[name] = t[name] or {}"},
    {"deque", "a list: table.insert(list, x), table.remove(list, 1)"},
    {"device", "write lg.device(), the name of the default device"},
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
    {"map", "a loop that fills a list"},
    {"max", "math.max(a, b) of numbers, lg.max of tensors"},
    {"min", "math.min(a, b) of numbers, lg.min of tensors"},
    {"nn", "local nn = lg.nn"},
    {"np", "there is no NumPy; tensors have its functions, and math has functions of numbers"},
    {"open", "io.open(path)"},
    {"optim", "local optim = lg.optim"},
    {"pickle", "lg.io.save(path, {…}), lg.io.load(path)"},
    {"plt", "lg.run.log{loss = loss} draws curves, lg.run.image pictures"},
    {"random", "math.random, and math.randomseed(0); lg.manual_seed(0) seeds tensors"},
    {"range", "for i = 1, n do … end; for i = 0, n - 1 where numbers count from 0"},
    {"reversed", "for i = #list, 1, -1 do … end"},
    {"round", "math.floor(x + 0.5) of a number, x:round() of a tensor"},
    {"set", "a table by value: {[x] = true}"},
    {"setattr", "object[name] = value"},
    {"sorted", "table.sort(list) in place, x:sort(dim) of a tensor"},
    {"str", "tostring(x)"},
    {"sum", "x:sum() of a tensor; numbers of a table are added in a loop"},
    {"SummaryWriter", "lg.run.log{loss = loss}"},
    {"super", "a class needs no call of nn.Module's init; another parent's init is Net.super.init(self, …)"},
    {"sys", "arg has the arguments, os.exit(code) ends"},
    {"time", "lg.clock() gives seconds"},
    {"torch", "local lg = require \"lunagrad\"; torch.x is lg.x"},
    {"tqdm", "for step in lg.run.steps(n) do … end shows a progress bar"},
    {"tuple", "a list is a table: {1, 2, 3}"},
    {"wandb", "lg.run.log{loss = loss}"},
    {"writer", "lg.run.log{loss = loss}"},
    {"zip", "for i = 1, #a do … a[i], b[i] … end"},
};

// Advice for methods of Python's lists, dicts and strings.
constexpr Advice kMethods[] = {
    {"append", "table.insert(list, x)"},
    {"copy", "{table.unpack(list)}; x:clone() of a tensor, lg.nn.utils.deepcopy(net) of a module"},
    {"endswith", "text:sub(-#ending) == ending"},
    {"extend", "table.move(more, 1, #more, #list + 1, list); a class is nn.class(\"Net\")"},
    {"get", "t[name], which is nil where there is none: t[name] or default"},
    {"insert", "table.insert(list, i, x)"},
    {"items", "for name, value in pairs(t) do … end"},
    {"join", "table.concat(list, \", \")"},
    {"len", "the length is #x"},
    {"keys", "for name in pairs(t) do … end"},
    {"pop", "table.remove(list); of a table by name t[name] = nil"},
    {"replace", "text:gsub(old, new)"},
    {"setdefault", "t[name] = t[name] or default"},
    {"sort", "table.sort(list)"},
    {"split", "for word in text:gmatch(\"%S+\") do … end"},
    {"startswith", "text:sub(1, #start) == start"},
    {"strip", "text:match(\"^%s*(.-)%s*$\")"},
    {"update", "for name, value in pairs(more) do t[name] = value end"},
    {"values", "for _, value in pairs(t) do … end"},
};

// The line without its strings and comments, whose text is no code.
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

// Advice for lines by their beginning, and by a text that the rest of the line contains.
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
    {"assert ", "", "assert(condition, message)"},
    {"raise ", "", "error(message)"},
    {"del ", "", "x = nil"},
    {"if ", ": ", "if … then … end"},
    {"for ", " in range(", "for i = 1, n do … end; for i = 0, n - 1 where numbers count from 0"},
    {"while ", ":", "while … do … end"},
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
    {"\".format(", "(\"loss %.3f\"):format(loss)"},
    {"'.format(", "('loss %.3f'):format(loss)"},
    {"enumerate(", "for x, y in loader do … end; for i, x in ipairs(list) do … end"},
    {"[...", "a part of the last dim is x:select(-1, i) or x:narrow(-1, first, count)"},
    {":repeat(", "repeat is a word of Lua: x:tile(2, 3)"},
    {".repeat(", "repeat is a word of Lua: x:tile(2, 3)"},
    {"{end =", "end is a word of Lua: give it at its position, or as [\"end\"] = 5"},
    {" end =", "end is a word of Lua: give it at its position, or as [\"end\"] = 5"},
};
// Texts in Lua's messages, and what to write.
constexpr Advice kSaid[] = {
    {"near '['", "a list is a table: {1, 2, 3}"},
    {"')' expected near '='", "arguments by name go into a table at the end: f(x, {dim = 1})"},
    {"<name> expected near '('", "several values are several names: local out, h, c = lstm(x)"},
    {"']' expected near ','", "an element or a part is x[{i, j}], x[{{}, j}]"},
    {"'then' expected near 'else'", "condition and a or b"},
    {"')' expected near ','", "a list of sizes or dims is a table: {2, 3}"},
    {"'}' expected near ':'", "a table by name is {name = value}"},
    {"near ':'", "a part is x[{{}, {1, 2}}], with both ends; a block ends with then, do … end"},
};

// Ops that return values and indices when they get a dim, or always.
constexpr std::string_view kPairs[] = {"max",  "min",      "median", "mode",  "sort",
                                       "topk", "kthvalue", "cummax", "cummin"};

// The position after the parenthesis that closes the one at `open`; npos when the line ends first.
size_t behind_call(std::string_view code, size_t open) {
  int depth = 0;
  for (size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(' || code[i] == '{' || code[i] == '[') ++depth;
    if ((code[i] == ')' || code[i] == '}' || code[i] == ']') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

// Whether the text at `at` is a position in brackets, as [1].
bool is_position(std::string_view code, size_t at) {
  return at + 1 < code.size() && code[at] == '[' && std::isdigit(static_cast<unsigned char>(code[at + 1])) &&
         code.find(']', at) != std::string_view::npos;
}

// The arguments from the second on: of "(a, b, …)" the text "b, …)". Empty when there is only one.
std::string_view second_argument(std::string_view arguments) {
  int depth = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c == ',' && depth == 1) {
      arguments.remove_prefix(std::min(arguments.find_first_not_of(' ', i + 1), arguments.size()));
      return arguments;
    }
  }
  return {};
}

// Advice for a call of `name`, with arguments from `open` on, whose result is indexed by a position; "" when
// nothing is wrong.
std::string taken_apart(std::string_view code, std::string_view name, size_t open) {
  const size_t end = behind_call(code, open);
  if (end == std::string_view::npos || !is_position(code, end)) return {};
  const std::string_view arguments = code.substr(open, end - open);
  const std::string position(code.substr(end, code.find(']', end) - end + 1));
  if (name == "grad") {
    if (second_argument(arguments).empty() || second_argument(arguments).starts_with('{')) return {};
    return position +
           " is a row where lg.grad is asked for one tensor: its result is that tensor, and a list only for "
           "a list {x}; a row is meant by (lg.grad(…))" +
           position;
  }
  if (arguments.size() == 2) return {};
  const std::string call = std::string(name) + "(…)";
  return position + " is a row of the values: local values, indices = x:" + call +
         "; a row is meant by (x:" + call + ")" + position;
}

}  // namespace

std::vector<std::pair<int, std::string>> python_tuples(std::string_view source) {
  std::vector<std::pair<int, std::string>> found;
  for (int line = 1; !source.empty(); ++line) {
    const size_t end = std::min(source.find('\n'), source.size());
    const std::string code = code_of(source.substr(0, end));
    source.remove_prefix(std::min(end + 1, source.size()));
    for (size_t open = code.find('('); open != std::string::npos; open = code.find('(', open + 1)) {
      size_t begin = open;
      while (begin > 0 &&
             (std::isalnum(static_cast<unsigned char>(code[begin - 1])) || code[begin - 1] == '_'))
        --begin;
      const std::string_view name = std::string_view(code).substr(begin, open - begin);
      const std::string_view before = std::string_view(code).substr(0, begin);
      const bool pair = std::find(std::begin(kPairs), std::end(kPairs), name) != std::end(kPairs) &&
                        (before.ends_with(':') || before.ends_with("lg."));
      if (!pair && !(name == "grad" && before.ends_with("lg."))) continue;
      if (std::string wrong = taken_apart(code, name, open); !wrong.empty()) found.emplace_back(line, wrong);
    }
  }
  return found;
}

std::string python_global(std::string_view name) {
  for (const auto& [word, advice] : kGlobals)
    if (name == word) return "; in Lua: " + std::string(advice);
  return {};
}

std::string python_method(std::string_view name) {
  for (const auto& [word, advice] : kMethods)
    if (name == word) return "; in Lua: " + std::string(advice);
  return {};
}

std::string python_syntax(std::string_view source, const std::string& message) {
  const int line = line_in(message);
  if (line < 1) return {};
  const auto advice_text = [](std::string_view advice) { return "; in Lua: " + std::string(advice); };
  // Lua may report a mistake one line too late.
  for (const int looked : {line, line - 1}) {
    const std::string code = looked > 0 ? code_of(line_at(source, looked)) : std::string();
    for (const auto& [begin, with, advice] : kStarts)
      if (code.starts_with(begin) && code.find(with) != std::string::npos) return advice_text(advice);
    for (const auto& [whole, advice] : kLines)
      if (code == whole) return advice_text(advice);
    for (const auto& [part, advice] : kInside)
      if (code.find(part) != std::string::npos) return advice_text(advice);
    if (const size_t at = code.find("lambda ");
        at != std::string::npos && code.find(':', at) != std::string::npos)
      return advice_text("function(x) return … end");
    if (code.ends_with(':')) return advice_text("if … then … end, for … do … end, while … do … end");
  }
  for (const auto& [said, advice] : kSaid)
    if (message.find(said) != std::string::npos) return advice_text(advice);
  return {};
}

}  // namespace lunagrad
