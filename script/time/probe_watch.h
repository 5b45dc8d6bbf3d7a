#pragma once
// Owns the probes of a session and evaluates them in the scope of the console, without side effects. Tensors
// and gradients are read-only, the random generator is restored, and writes to the script's variables and
// tables are undone; each of these is an error that names what was written. A probe that failed is switched
// off. add(), remove() and list() may be called from any thread, under the lock; the rest belongs to the
// session's thread.
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
  // Any thread. add returns the id, or 0 with the reason in `why` when the expression does not compile.
  uint64_t add(Probe, std::string* why);
  bool remove(uint64_t id);
  std::vector<Probe> list() const;

  struct Reading {
    const Probe& probe;
    double value;
    std::string error;  // "" when there is a value
  };
  using OnReading = std::function<void(const Reading&)>;
  void begin_run();  // begins to count the steps of another run
  // Takes over the changes of other threads, and activates the probes that begin with this step. `within` is
  // the step's number for probes at its lines, `end` for probes at its end: in a script without lg.run.steps
  // the two differ.
  void begin_step(int64_t within, int64_t end);
  bool any_at_end() const { return at_end_; }
  bool any_at_lines() const { return at_lines_; }
  void end_step(lua_State*, const OnReading&);
  // In a line hook. waits_at: whether a probe is at this line of any file. at_line: evaluates the probes at
  // this line of `file`. `script` is the script's own file.
  bool waits_at(int line) const;
  void at_line(lua_State*, const std::string& script, const std::string& file, int line, const OnReading&);

 private:
  void read(lua_State*, const Probe&, const OnReading&);

  mutable std::mutex mutex_;
  std::vector<Probe> shared_;  // under mutex_
  uint64_t next_id_ = 1;       // under mutex_
  std::atomic<bool> changed_{false};
  std::vector<Probe> active_;
  bool some_wait_ = false;  // some probes begin in a later step
  bool at_end_ = false, at_lines_ = false;
  bool busy_ = false;
};

// The expression as Lua: "norm of x" is "(x):norm()".
std::string probe_code(const std::string& expression);

}  // namespace lunagrad
