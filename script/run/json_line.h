#pragma once
// A JSON object in one line, written field by field: what metrics.jsonl is made of. Several times as quick as
// building an object and printing it, which a script that logs at each of a million steps notices. Keys come
// in the order in which they are written; the caller closes what it opens.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

class JsonLine {
 public:
  JsonLine(int64_t step, double seconds);  // {"step":…,"time":…, the time to the microsecond

  JsonLine& key(std::string_view name);
  JsonLine& value(
      double);  // NaN and infinities, for which JSON has no numbers, as "NaN", "Infinity", "-Infinity"
  JsonLine& value(double, int digits);  // the same, rounded
  JsonLine& value(int64_t);
  JsonLine& value(std::same_as<bool> auto truth) { return literal(truth ? "true" : "false"); }
  JsonLine& value(std::string_view);  // bytes that are no UTF-8 become U+FFFD
  JsonLine& open(char bracket);       // '{' or '['
  JsonLine& close(char bracket);      // '}' or ']'
  template <class T>
  JsonLine& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  std::string finish();  // with the last brace, without a newline

 private:
  void separate();
  JsonLine& literal(std::string_view);
  bool finite_or_named(double);
  void append_text(std::string_view);
  std::string line_;
  bool first_ = true;  // of the object or array that is open
};

}  // namespace lunagrad
