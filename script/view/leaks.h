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
  std::string advice;   // what to write instead
};
const char* leak_name(Leak::What);  // "tapes"

struct LeakReport {
  std::vector<Leak> leaks;  // the largest first
  int64_t steps = 0;        // of the run
  int64_t looks = 0;        // steps after which the script's values were walked
  size_t threshold = 0;     // bytes from which on a tensor without a graph counts
};

}  // namespace lunagrad
