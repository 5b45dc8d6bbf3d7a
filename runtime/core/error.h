#pragma once
// Errors of the engine. A user's mistake is an Error with the text "op: fact with values"; a programmer's
// mistake is an assert; a missing optional value is not an error. The kind decides the exit code of the
// command line. Any thread may throw.
#include <sstream>
#include <stdexcept>
#include <string>

namespace lunagrad {

enum class ErrorKind { value, numeric, device, file, memory, cancelled };

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::value);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// The parts, concatenated with operator<<. Numbers are the C locale's, whatever std::locale::global() is.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

// Throws Error(text(parts...)), kind value.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(text(parts...));
}

// Throws Error(text(parts...)) of the given kind.
template <class... Parts>
[[noreturn]] void fail_as(ErrorKind kind, const Parts&... parts) {
  throw Error(text(parts...), kind);
}

}  // namespace lunagrad
