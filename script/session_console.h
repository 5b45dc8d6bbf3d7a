#pragma once
// The part of a Session that evaluates lines of a console in the script's Lua state and completes names.
//
// Threads: every function may be called from any thread and returns at once. `done` is called on the
// session's thread and must not call Session::wait(). The functions do not throw.
#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

class SessionThread;

class SessionConsole {
 public:
  SessionConsole(const SessionConsole&) = delete;

  // Evaluates code in the current Lua state (a new one if there is none), at the next safe point of a run, or
  // at once when idle. Results are output events, formatted as the REPL does. `done` says whether it
  // succeeded.
  void eval(const std::string& code, std::function<void(bool ok)> done = {});

  // Does the same, but the results, or the message of the error, are given to `done`, and are no events.
  void evaluate(const std::string& code, std::function<void(bool ok, std::string text)> done);

  // The completions of the last name in `line` (globals, fields, methods), as whole names, sorted.
  void complete(const std::string& line, std::function<void(std::vector<std::string>)> done);

 protected:
  explicit SessionConsole(SessionThread& thread) : thread_(thread) {}
  ~SessionConsole() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
