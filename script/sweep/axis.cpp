#include "script/sweep/axis.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"

namespace lunagrad::sweep {
namespace {

constexpr int64_t kMostValues = 10000;
constexpr double kMostInteger = 0x1p53;

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || behind != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Parses NAME=VALUES of the option `option`.
Axis begin(const std::string& option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    fail(option, " ", text, ": NAME=VALUES expected, as lr=1e-3,1e-2");
  Axis axis;
  axis.name = text.substr(0, equals);
  axis.given = text.substr(equals + 1);
  return axis;
}

void take_list(Axis& axis, const std::string& option) {
  axis.values = split(axis.given, ',');
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    if (value.empty()) fail(option, " ", axis.name, "=", axis.given, ": a value between two commas is empty");
    if (!seen.insert(value).second)
      fail(option, " ", axis.name, "=", axis.given, ": ", value, " is listed twice");
  }
}

bool is_list(const std::string& text) { return text.find(',') != std::string::npos; }

// Parses the bounds "LOW..HIGH".
void take_range(Axis& axis, const std::string& range, const std::string& option) {
  const size_t dots = range.find("..");
  const std::optional<double> low = number_of(range.substr(0, dots)),
                              high = number_of(range.substr(dots + 2));
  if (!low || !high)
    fail(option, " ", axis.name, "=", axis.given, ": two numbers LOW..HIGH expected, as 0..0.5");
  if (!(*low < *high))
    fail(option, " ", axis.name, "=", axis.given, ": the lower bound must be below the upper one");
  axis.low = *low;
  axis.high = *high;
  if (!axis.integer) return;
  for (const double bound : {*low, *high})
    if (std::trunc(bound) != bound || std::fabs(bound) > kMostInteger)
      fail(option, " ", axis.name, "=", axis.given, ": ", general_number(bound), " is not a whole number");
}

uint64_t mixed(uint64_t x) {  // splitmix64: Steele, Lea and Flood 2014
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A number in [0, 1) with 53 random bits.
double uniform(const Axis& axis, uint64_t seed, uint64_t trial) {
  uint64_t bits = mixed(seed);
  for (const char c : axis.name) bits = mixed(bits ^ static_cast<unsigned char>(c));
  return double(mixed(bits ^ mixed(trial)) >> 11) * 0x1p-53;
}

std::string rounded(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return general_number(number_of(digits).value_or(value));
}

}  // namespace

Axis parse_grid(const std::string& text) {
  Axis axis = begin("--grid", text);
  axis.grid = true;
  if (is_list(axis.given) || axis.given.find("..") == std::string::npos) {
    take_list(axis, "--grid");
    return axis;
  }
  axis.integer = true;
  take_range(axis, axis.given, "--grid");
  if (axis.high - axis.low >= kMostValues)
    fail("--grid ", text, ": more than ", kMostValues, " values; draw them with --random");
  for (auto value = int64_t(axis.low); value <= int64_t(axis.high); ++value)
    axis.values.push_back(std::to_string(value));
  return axis;
}

Axis parse_random(const std::string& text) {
  Axis axis = begin("--random", text);
  if (is_list(axis.given)) {
    take_list(axis, "--random");
    return axis;
  }
  const std::vector<std::string> parts = split(axis.given, ':');
  if (parts[0].find("..") == std::string::npos)
    fail("--random ", text, ": LOW..HIGH or choices a,b expected; --set gives all trials one value");
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] != "log" && parts[i] != "int")
      fail("--random ", text, ": ':", parts[i], "' is unknown; there are :log and :int");
    (parts[i] == "log" ? axis.log : axis.integer) = true;
  }
  take_range(axis, parts[0], "--random");
  if (axis.log && !(axis.low > 0))
    fail("--random ", text, ": a logarithm needs bounds above 0 (got ", general_number(axis.low), ")");
  return axis;
}

std::string draw(const Axis& axis, uint64_t seed, uint64_t trial) {
  const double u = uniform(axis, seed, trial);
  if (!axis.values.empty()) return axis.values[size_t(u * double(axis.values.size()))];
  // Each whole number gets the share of the interval from it to the next.
  const double high = axis.integer ? axis.high + 1 : axis.high;
  const double value =
      axis.log ? axis.low * std::exp(u * std::log(high / axis.low)) : axis.low + u * (high - axis.low);
  if (axis.integer) return std::to_string(int64_t(std::clamp(std::floor(value), axis.low, axis.high)));
  return rounded(std::clamp(value, axis.low, axis.high));
}

}  // namespace lunagrad::sweep
