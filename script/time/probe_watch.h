#pragma once
// Owns the probes of a session and evaluates them: with the scope of the console, and so that they change
// nothing. Tensors and gradients are read-only, random numbers are put back, and what is written to the
// script's variables and tables is undone; each of these is an error that says what was written. A probe that
// failed is switched off. add(), remove() and list() may be called from any thread, under the lock; the rest
// belongs to the session's thread.
#include <atomic>
#include <functional>
#include <lua.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "script/view/probe.h"

namespace lunagrad {

class ProbeWatch {
 public:
  // Any thread. add: the id, or 0 with the reason in `why` when the expression does not compile.
  uint64_t add(Probe, std::string* why);
  bool remove(uint64_t id);
  std::vector<Probe> list() const;

  struct Reading {
    const Probe& probe;
    double value;
    std::string error;  // "" when there is a value
  };
  using Told = std::function<void(const Reading&)>;
  void begin_run();  // counts the steps of another run
  // Takes over what other threads changed, and the probes that begin with this step, which has number
  // `within` for those at its lines and number `end` for those at its end: of a script without lg.run.steps
  // they differ.
  void begin_step(int64_t within, int64_t end);
  bool any_at_end() const { return at_end_; }
  bool any_at_lines() const { return at_lines_; }
  void end_step(lua_State*, const Told&);
  // In a line hook: whether a probe waits at this line of some file; and reads those that wait at it in
  // `file`. `script` is the file of the script itself.
  bool waits_at(int line) const;
  void at_line(lua_State*, const std::string& script, const std::string& file, int line, const Told&);

 private:
  void read(lua_State*, const Probe&, const Told&);

  mutable std::mutex mutex_;
  std::vector<Probe> shared_;  // under mutex_
  uint64_t next_id_ = 1;       // under mutex_
  std::atomic<bool> changed_{false};
  std::vector<Probe> active_;
  bool some_wait_ = false;  // for a later step
  bool at_end_ = false, at_lines_ = false;
  bool busy_ = false;
};

// The expression as Lua: "norm of x" is "(x):norm()".
std::string probe_code(const std::string& expression);

}  // namespace lunagrad
