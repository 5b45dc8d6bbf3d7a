#include "script/view/breakpoints.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/error.h"
#include "runtime/op.h"
#include "script/lua/source.h"

namespace lunagrad {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::optional<std::vector<int64_t>> parse_shape_pattern(const std::string& given) {
  const auto trimmed = [](std::string part) {
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.resize(part.find_last_not_of(' ') + 1);
    return part;
  };
  std::string list = trimmed(given);
  if (list.starts_with('[') != list.ends_with(']')) return {};
  if (list.empty()) return {};
  if (list.starts_with('[')) list = trimmed(list.substr(1, list.size() - 2));
  std::vector<int64_t> sizes;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string part = trimmed(list.substr(0, comma));
    if (part.empty() || (comma != list.npos && comma + 1 == list.size())) return {};
    list = comma == list.npos ? "" : list.substr(comma + 1);
    int64_t size = -1;
    if (part != "*") {
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
      if (error != std::errc() || end != part.data() + part.size() || size < 0) return {};
    }
    sizes.push_back(size);
  }
  return sizes;
}

std::string describe(const Breakpoint& b) {
  constexpr const char* kPasses[] = {"", ", forward only", ", backward only"};
  const std::string pass = kPasses[size_t(b.pass)];
  switch (b.condition) {
    case Breakpoint::Condition::not_finite:
      return "NaN or Inf" + pass;
    case Breakpoint::Condition::norm:
      return text("norm above ", b.limit, pass);
    case Breakpoint::Condition::op:
      return "op " + b.text + pass;
    case Breakpoint::Condition::shape:
      return "shape " + b.text + pass;
    case Breakpoint::Condition::step:
      return text("step ", b.step);
    case Breakpoint::Condition::line:
      return text("line ", b.place.line, " of ", file_name(b.place.file), pass);
    case Breakpoint::Condition::predicate:
      break;
  }
  return b.text + pass;
}

std::string problem_of(const Breakpoint& b) {
  switch (b.condition) {
    case Breakpoint::Condition::not_finite:
      return {};
    case Breakpoint::Condition::norm:
      return b.limit >= 0 ? "" : "breakpoint: a norm is at least 0";
    case Breakpoint::Condition::op:
      // The names of custom ops are known only while a script runs.
      return b.text.empty() ? "breakpoint: the name of an op is missing" : "";
    case Breakpoint::Condition::shape:
      return parse_shape_pattern(b.text)
                 ? ""
                 : text("breakpoint: '", b.text, "' is no shape such as [64, 10]; * stands for any size");
    case Breakpoint::Condition::step:
      return b.step >= 1 ? "" : text("breakpoint: steps count from 1 (got ", b.step, ")");
    case Breakpoint::Condition::line:
      return b.place.file.empty() || b.place.line < 1 ? "breakpoint: a file and a line are needed" : "";
    case Breakpoint::Condition::predicate: {
      if (b.text.empty()) return "breakpoint: an expression is needed, such as x:norm():item() > 10";
      SourcePlace ignored;
      const std::string error = syntax_error("return " + b.text, "=predicate", ignored);
      return error.empty() ? "" : "breakpoint: " + error;
    }
  }
  return {};
}

}  // namespace lunagrad
