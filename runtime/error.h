#pragma once
// Errors of the engine. A mistake of the user is an Error whose text is "op: fact with values"; a mistake of
// the programmer is an assert; an absent thing is a value. The kind decides the exit code of the command
// line. Any thread may throw; only std::string is owned.
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

// The parts, printed one after the other with operator<<.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// Throws Error(text(parts...)), kind value.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(text(parts...));
}

// The same with a kind.
template <class... Parts>
[[noreturn]] void fail_as(ErrorKind kind, const Parts&... parts) {
  throw Error(text(parts...), kind);
}

}  // namespace lunagrad
