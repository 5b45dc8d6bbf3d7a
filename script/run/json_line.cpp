#include "script/run/json_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace lunagrad {

JsonLine::JsonLine(int64_t step, double seconds) {
  line_.reserve(128);
  open('{').field("step", step).key("time");
  const int64_t microseconds = std::llround(seconds * 1e6);
  value(microseconds / 1'000'000);
  // A 1 before the fraction keeps the fraction's leading zeros.
  const size_t point = line_.size();
  line_ += std::to_string(1'000'000 + microseconds % 1'000'000);
  line_[point] = '.';
}

void JsonLine::separate() {
  if (!first_) line_ += ',';
  first_ = false;
}

void JsonLine::append_text(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) {
    line_.append(1, '"').append(text).append(1, '"');
  } else {
    line_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

JsonLine& JsonLine::key(std::string_view name) {
  separate();
  append_text(name);
  line_ += ':';
  first_ = true;  // the value follows without a comma
  return *this;
}

// Writes NaN and infinities by name, because JSON lacks them. Returns false for finite numbers.
bool JsonLine::finite_or_named(double number) {
  separate();
  if (std::isfinite(number)) return true;
  line_ += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return false;
}

JsonLine& JsonLine::value(double number) {
  char text[32];
  if (finite_or_named(number)) line_.append(text, std::to_chars(text, text + sizeof text, number).ptr);
  return *this;
}

JsonLine& JsonLine::value(double number, int digits) {
  char text[64];
  if (finite_or_named(number)) {
    const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits).ptr;
    line_.append(text, end);
  }
  return *this;
}

JsonLine& JsonLine::value(int64_t number) {
  separate();
  char digits[32];
  line_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  return *this;
}

JsonLine& JsonLine::literal(std::string_view name) {
  separate();
  line_ += name;
  return *this;
}

JsonLine& JsonLine::value(std::string_view text) {
  separate();
  append_text(text);
  return *this;
}

JsonLine& JsonLine::open(char bracket) {
  separate();
  line_ += bracket;
  first_ = true;
  return *this;
}

JsonLine& JsonLine::close(char bracket) {
  line_ += bracket;
  first_ = false;
  return *this;
}

std::string JsonLine::finish() {
  line_ += '}';
  return std::move(line_);
}

}  // namespace lunagrad
