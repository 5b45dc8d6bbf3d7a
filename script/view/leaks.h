#pragma once
// What outlives the steps in which it was made, and who holds it: the view of `run --leaks`. Plain values;
// once made, any thread may read them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct Leak {
  enum class What : uint8_t {
    tapes,       // graphs that a backward pass has left behind, or that none comes for
    parameters,  // tensors that require a gradient, made anew from step to step
    tensors      // large ones without a graph
  } what = What::tapes;
  std::string owner;    // "local losses[*]", "upvalue history[*] of train.lua:12"; * stands for any key
  std::string path;     // the same with the key of the oldest: "local losses[1]"
  SourcePlace place;    // where the owner is declared, assigned, defined or registered; line 0: unknown
  SourcePlace made;     // the call that made the latest of what it holds; line 0: unknown
  int64_t count = 0;    // steps whose tapes, parameters or tensors it holds
  int64_t nodes = 0;    // of tapes
  size_t bytes = 0;     // of values that nothing else needs
  int64_t since = 0;    // the step that made the oldest
  int64_t step = 0;     // the step after which this was found
  double per_step = 0;  // growth of `count`
  // The walk, by its step, since which `count` has only grown; 0: it was not seen to grow.
  int64_t growing_since = 0;
  std::string advice;  // what to write instead
};
const char* leak_name(Leak::What);  // "tapes"

inline constexpr size_t kLeakThreshold = size_t(1) << 20;  // bytes, where the user names none

struct LeakReport {
  std::vector<Leak> leaks;  // the largest first
  // What else outlived the step that made it, at the latest walk: a buffer, or a leak that is not proven yet.
  std::vector<Leak> held;
  int64_t steps = 0;     // of the run
  int64_t looks = 0;     // steps after which the script's values were walked
  size_t threshold = 0;  // bytes from which on a tensor without a graph counts
  int64_t step = 0;      // after which the latest walk was made
  double seconds = 0;    // that it took
  double share = 0;      // of the time since the first walk that walks took
};

}  // namespace lunagrad
