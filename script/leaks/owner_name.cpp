#include "script/leaks/owner_name.h"

#include <algorithm>
#include <cctype>

namespace lunagrad {
namespace {

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; });
}

std::string of_line(const char* what, SourceLine line) {
  return line.known() ? what + to_string(line) : std::string();
}

// A variable or function with the keys after it: "upvalue history", "[*]", " of train.lua:12".
struct NamePart {
  std::string start, keys, end;
};

}  // namespace

std::string owner_name(const HeapPath& path, bool star) {
  std::vector<NamePart> parts;
  const auto begin = [&](std::string start, std::string end = "") {
    parts.push_back({std::move(start), "", std::move(end)});
  };
  for (const HeapStep& step : path) {
    switch (step.kind) {
      case HeapKind::local:
        begin("local " + step.name, parts.empty() ? "" : " of a coroutine");
        break;
      case HeapKind::temporary:
        begin("a value", of_line(" in the function at ", step.line));
        break;
      case HeapKind::global:
        begin("global " + step.name);
        break;
      case HeapKind::module:
        begin("module " + step.name);
        break;
      case HeapKind::state:
        begin("lg.run.state " + step.name);
        break;
      case HeapKind::host:
        begin("lg.host");
        break;
      case HeapKind::hook:
        begin(step.name, of_line(" of ", step.line));
        break;
      case HeapKind::registry:
        begin("registry entry " + step.name);
        break;
      case HeapKind::function:
        begin("the function", of_line(" at ", step.line));
        break;
      case HeapKind::upvalue:
        // The upvalue's name says the same.
        if (!parts.empty() && parts.back().start == "the function") parts.pop_back();
        begin("upvalue " + step.name, of_line(" of ", step.line));
        break;
      case HeapKind::field:
        parts.back().keys += is_identifier(step.name) ? "." + step.name : "[\"" + step.name + "\"]";
        break;
      case HeapKind::entry:
        parts.back().keys += star ? "[*]" : "[" + step.name + "]";
        break;
      case HeapKind::key:
        parts.back().keys += ".<key>";
        break;
      case HeapKind::metatable:
        parts.back().keys += ".<metatable>";
        break;
      case HeapKind::uservalue:
        parts.back().keys += ".<uservalue>";
        break;
      case HeapKind::gradient:
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
    if (step.kind == HeapKind::field)
      name += "." + step.name;
    else if (!step.name.empty() && step.kind != HeapKind::entry)
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
  return step.kind == HeapKind::field || step.kind == HeapKind::global || step.kind == HeapKind::state;
}

HeapPath with_any_name(HeapPath path, size_t step) {
  if (path[step].kind == HeapKind::field)
    path[step].kind = HeapKind::entry;
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
