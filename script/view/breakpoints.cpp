#include "script/view/breakpoints.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/core/error.h"

namespace lunagrad {
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

}  // namespace lunagrad
