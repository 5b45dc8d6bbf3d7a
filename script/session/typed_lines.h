#pragma once
// The places in a run at which console lines are evaluated: records them, so that a replay of the run can
// repeat the lines, and repeats the lines of an earlier run at their places. For the session's thread; it has
// no lock.
#include <cstdint>
#include <deque>
#include <functional>
#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

#include "script/run/run.h"

namespace lunagrad {

class TypedLines {
 public:
  // The lines to repeat, in the order of their places.
  void begin_script(const std::vector<TypedLine>& lines) { lines_.assign(lines.begin(), lines.end()); }
  void begin_step();
  // Called after each op of the script.
  void count_op() { ++ops_; }
  bool may_be_due_at_op() const { return ops_ >= next_ops_; }
  bool any() const { return !lines_.empty(); }
  bool any_before_lines(int64_t step) const;  // of the script, in this step
  // Calls evaluate(code) for each line whose place the script has reached. `L` is at a line if `place` says
  // so.
  void repeat(lua_State* L, const Run&, SafePlace, const std::function<void(const std::string&)>& evaluate);

  // The safe point whose tasks run now; empty between scripts and inside a backward pass.
  void set_place(std::optional<SafePlace> place) { place_ = place; }
  // Records a line that is evaluated now. A line inside a backward pass is not recorded, because it can
  // change nothing.
  void record(lua_State*, Run&, const std::string& code) const;

 private:
  std::deque<TypedLine> lines_;  // to repeat
  int64_t ops_ = 0;              // safe points of ops in this step
  int64_t next_ops_ = INT64_MAX;
  std::optional<SafePlace> place_;
};

}  // namespace lunagrad
