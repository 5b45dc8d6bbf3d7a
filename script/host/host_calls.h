#pragma once
// Calls of the program's own code from a session's thread: the event sink, callbacks, functions and ops. What
// the code throws becomes an Error, whatever its type: an exception of another type would pass through Lua
// without a message, or end the process. The code sees the program's locale (number_locale.h). close() ends
// all such calls, for a session that is destroyed before its thread has ended.
//
// Threads: close() may be called from any thread; the others are for the session's thread. Lock: the mutex is
// held while the program's code runs, recursively, since such code may cause events.
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/system/number_locale.h"

namespace lunagrad {

// Called in a catch block: throws the exception on if it is a std::exception, else an Error that begins with
// `who` and says what was thrown.
[[noreturn]] void throw_as_error(const std::string& who);

// Calls code of the program. `who` says what the code is: "the op distance".
template <class Code>
decltype(auto) call_program(const char* who, const char* name, const Code& code) {
  const ProgramLocale locale;
  try {
    return code();
  } catch (...) {
    throw_as_error(std::string(who) + name);
  }
}

class HostCalls {
 public:
  HostCalls() = default;
  HostCalls(const HostCalls&) = delete;

  // From here on no code of the program is called. Waits at most so many seconds for code that runs on
  // another thread; false when it runs on.
  bool close(double seconds);
  // Error of kind cancelled after close().
  template <class Code>
  decltype(auto) call(const char* who, const char* name, const Code& code) {
    const std::lock_guard lock(mutex_);
    if (closed_) fail_as(ErrorKind::cancelled, "the session has ended");
    return call_program(who, name, code);
  }
  // Does nothing after close(). Returns what the code threw, as text; "" if nothing.
  std::string try_call(const char* who, const std::function<void()>& code);
  // `done` as a callback that is called so.
  template <class... Arguments>
  std::function<void(Arguments...)> callback(std::function<void(Arguments...)> done) {
    if (!done) return [](Arguments...) {};
    return [this, done = std::move(done)](Arguments... arguments) {
      call("a callback of the program", "", [&] { done(std::move(arguments)...); });
    };
  }

 private:
  std::recursive_mutex mutex_;
  std::atomic<bool> closed_{false};
};

}  // namespace lunagrad
