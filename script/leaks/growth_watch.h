#pragma once
// Finds a variable of the script whose graph grows from step to step, as `total = total + loss` does: the
// graph of every step stays in memory until the run ends. It looks in every run, so it looks rarely: at step
// 50, and each time that the number of steps has doubled, it walks what the script holds (heap_walk.h). An
// owner that has nodes of nearly all of the latest 50 steps is named, once a run. For the session's thread.
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
    int64_t steps;      // whose graphs it holds
    SourcePlace place;  // of the op that made its present value
  };
  void begin_run();
  bool looks() const { return !told_; }
  // A step has ended; `L` runs the script.
  std::optional<Found> end_step(lua_State* L);

  void root(const Tensor&) { passed_ = true; }  // a backward pass of the script starts from it

 private:
  std::optional<Found> look(lua_State* L) const;

  bool told_ = false;
  bool passed_ = false;  // a backward pass was made in the step
  int64_t steps_ = 0, next_ = 0;
  StepClock clock_;  // of the latest steps that had one
};

}  // namespace lunagrad
