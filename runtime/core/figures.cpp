#include "runtime/core/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace lunagrad {
namespace {

// Three significant digits; no trailing decimal point.
std::string three_digits(double value, const char* unit) {
  char text[48];
  const double size = std::abs(value);
  std::snprintf(text, sizeof text, "%.*f %s",
                size >= 99.95 || size == 0 ? 0
                : size >= 9.995            ? 1
                                           : 2,
                value, unit);
  return text;
}

}  // namespace

std::string duration_figure(double ns) {
  if (std::abs(ns) < 999.5) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f ns", ns);
    return text;
  }
  return std::abs(ns) < 999.5e3   ? three_digits(ns / 1e3, "µs")
         : std::abs(ns) < 999.5e6 ? three_digits(ns / 1e6, "ms")
                                  : three_digits(ns / 1e9, "s");
}

std::string run_time_figure(double seconds) {
  char text[32];
  if (seconds < 60) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
  }
  const long long whole = std::isfinite(seconds) && seconds < 1e15 ? static_cast<long long>(seconds) : 0;
  if (whole < 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld min", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld h", whole / 3600, whole / 60 % 60);
  return text;
}

std::string clock_figure(double seconds) {
  char text[32];
  const long long whole = static_cast<long long>(std::min(seconds, 1e9));
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

std::string bytes_figure(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit < 6) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

std::string mebibytes_figure(size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < (size_t(10) << 20) ? "%.1f MiB" : "%.0f MiB",
                double(bytes) / (1 << 20));
  return text;
}

std::string rate_figure(double rate) {
  return rate >= 999.5e9   ? three_digits(rate / 1e12, "TFLOP/s")
         : rate >= 999.5e6 ? three_digits(rate / 1e9, "GFLOP/s")
         : rate >= 999.5e3 ? three_digits(rate / 1e6, "MFLOP/s")
                           : three_digits(rate / 1e3, "kFLOP/s");
}

std::string count_figure(int64_t count) {
  std::string text = std::to_string(count);
  for (int64_t at = int64_t(text.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3) text.insert(size_t(at), ",");
  return text;
}

std::string number_figure(double value, int digits) {
  if (std::isnan(value)) return "NaN";  // printf writes the sign bit of a NaN, too
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  char text[48];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string shortest_number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string general_number(double value) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general).ptr};
}

}  // namespace lunagrad
