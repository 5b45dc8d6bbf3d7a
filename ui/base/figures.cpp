#include "ui/base/figures.h"

#include <cmath>
#include <cstdio>

namespace lunagrad {
namespace {

// Three digits, without a point behind the third.
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

std::string bytes_figure(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
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

}  // namespace lunagrad
