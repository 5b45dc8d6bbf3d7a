#include "script/leaks/owner_name.h"

#include <algorithm>
#include <cctype>

namespace lunagrad {
namespace {

using Kind = HeapStep::Kind;

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; });
}

std::string of_line(const char* what, SourceLine line) {
  return line.known() ? what + to_string(line) : std::string();
}

// A variable or function with the keys after it: "upvalue history", "[*]", " of train.lua:12".
struct Part {
  std::string start, keys, end;
};

}  // namespace

std::string owner_name(const HeapPath& path, bool star) {
  std::vector<Part> parts;
  const auto begin = [&](std::string start, std::string end = "") {
    parts.push_back({std::move(start), "", std::move(end)});
  };
  for (const HeapStep& step : path) {
    switch (step.kind) {
      case Kind::local:
        begin("local " + step.name, parts.empty() ? "" : " of a coroutine");
        break;
      case Kind::temporary:
        begin("a value", of_line(" in the function at ", step.line));
        break;
      case Kind::global:
        begin("global " + step.name);
        break;
      case Kind::module:
        begin("module " + step.name);
        break;
      case Kind::state:
        begin("lg.run.state " + step.name);
        break;
      case Kind::host:
        begin("lg.host");
        break;
      case Kind::hook:
        begin(step.name, of_line(" of ", step.line));
        break;
      case Kind::registry:
        begin("registry entry " + step.name);
        break;
      case Kind::function:
        begin("the function", of_line(" at ", step.line));
        break;
      case Kind::upvalue:
        // The upvalue's name says the same.
        if (!parts.empty() && parts.back().start == "the function") parts.pop_back();
        begin("upvalue " + step.name, of_line(" of ", step.line));
        break;
      case Kind::field:
        parts.back().keys += is_identifier(step.name) ? "." + step.name : "[\"" + step.name + "\"]";
        break;
      case Kind::entry:
        parts.back().keys += star ? "[*]" : "[" + step.name + "]";
        break;
      case Kind::key:
        parts.back().keys += ".<key>";
        break;
      case Kind::metatable:
        parts.back().keys += ".<metatable>";
        break;
      case Kind::uservalue:
        parts.back().keys += ".<uservalue>";
        break;
      case Kind::gradient:
        parts.back().keys += ".grad";
        break;
    }
  }
  std::string name;
  for (size_t i = parts.size(); i-- > 0;) {
    name += parts[i].start + parts[i].keys + parts[i].end;
    if (i > 0) name += ", in ";
  }
  return name;
}

std::string variable_name(const HeapPath& path) {
  std::string name;
  for (const HeapStep& step : path) {
    if (step.kind == Kind::field)
      name += "." + step.name;
    else if (!step.name.empty() && step.kind != Kind::entry)
      name = step.name;
  }
  return name;
}

SourceLine owner_line(const HeapPath& path) {
  SourceLine line;
  for (const HeapStep& step : path)
    if (step.line.known()) line = step.line;
  return line;
}

bool is_name(const HeapStep& step) {
  return step.kind == Kind::field || step.kind == Kind::global || step.kind == Kind::state;
}

HeapPath with_any_name(HeapPath path, size_t step) {
  if (path[step].kind == Kind::field)
    path[step].kind = Kind::entry;
  else
    path[step] = {path[step].kind, "*", {}};
  return path;
}

HeapPath without_repeats(const HeapPath& path) {
  HeapPath shorter;
  for (const HeapStep& step : path)
    if (shorter.empty() || step.kind != shorter.back().kind || step.name != shorter.back().name)
      shorter.push_back(step);
  return shorter;
}

}  // namespace lunagrad
