#pragma once
// Values that outlive the steps in which they were made, and which variables hold them: the view of `run
// --leaks`. Plain values; once made, any thread may read them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct Leak {
  enum class What : uint8_t {
    tapes,       // graphs left over from a backward pass, or never used by one
    parameters,  // tensors that require a gradient and are made again in each step
    tensors      // large tensors without a graph
  } what = What::tapes;
  std::string owner;    // "local losses[*]", "upvalue history[*] of train.lua:12"; * stands for any key
  std::string path;     // `owner` with the key of the oldest value: "local losses[1]"
  SourcePlace place;    // where the owner is declared, assigned, defined or registered; line 0: unknown
  SourcePlace made;     // the call that made the latest held value; line 0: unknown
  int64_t count = 0;    // steps whose tapes, parameters or tensors are held
  int64_t nodes = 0;    // number of nodes, for tapes
  size_t bytes = 0;     // of values that are held by nothing else
  int64_t since = 0;    // the step that made the oldest value
  int64_t step = 0;     // the step after which this was found
  double per_step = 0;  // growth of `count`
  // The step of the walk since which `count` has only grown; 0: no growth was seen.
  int64_t growing_since = 0;
  std::string advice;  // what to write instead
};
const char* leak_name(Leak::What);  // "tapes"

inline constexpr size_t kLeakThreshold = size_t(1) << 20;  // default, in bytes
// A leaked value outlives at least so many steps, and its owner holds values of at least so many steps.
inline constexpr int64_t kLeakSteps = 3;

struct LeakReport {
  std::vector<Leak> leaks;  // largest first
  // Other values that outlived their step, at the latest walk: a buffer, or a leak that is not proven yet.
  std::vector<Leak> held;
  int64_t steps = 0;     // of the run
  int64_t looks = 0;     // number of walks over the script's values
  size_t threshold = 0;  // tensors without a graph count if their owner holds this many bytes of them
  int64_t step = 0;      // the step after which the latest walk was made
  double seconds = 0;    // that the latest walk took
  double share = 0;      // fraction of the time since the first walk that was spent on walks
  bool complete = true;  // false: the latest walk ended at its limit of objects
  bool locals = true;    // false: the script had ended, so that its local variables were gone
};

}  // namespace lunagrad
