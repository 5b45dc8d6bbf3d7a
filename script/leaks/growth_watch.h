#pragma once
// Finds a variable of the script whose graph grows from step to step, as with `total = total + loss`: the
// graph of every step stays in memory until the run ends. It runs in every run, so it runs rarely: at step
// 50, and each time the number of steps has doubled, it walks the values that the script holds (heap_walk.h).
// It reports an owner that has nodes of nearly all of the latest 50 steps, once per run. For the session's
// thread.
#include <lua.hpp>
#include <optional>
#include <string>

#include "script/leaks/held_graph.h"
#include "script/view/source_place.h"

namespace lunagrad {

class GrowthWatch {
 public:
  struct Found {
    std::string name;   // "total", "stats.loss"
    int64_t steps;      // number of steps whose graphs it holds
    SourcePlace place;  // line of the op that made its present value
  };
  void begin_run();
  bool looks() const { return !reported_; }
  // A step has ended; `L` runs the script.
  std::optional<Found> end_step(lua_State* L);

  void root(const Tensor&) { passed_ = true; }  // the root of one of the script's backward passes

 private:
  std::optional<Found> look(lua_State* L) const;

  bool reported_ = false;
  bool passed_ = false;  // the step had a backward pass
  int64_t steps_ = 0, next_ = 0;
  StepClock clock_;  // the latest steps that had a backward pass
};

}  // namespace lunagrad
