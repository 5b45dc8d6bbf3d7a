#pragma once
// `lunagrad bench --ops`: the speed of every op compared with copying memory, measured in the same run. Runs
// on the calling thread with a context of its own; the table goes to standard output, progress to a
// terminal's standard error.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad {

struct BenchOptions {
  int64_t size = 1 << 24;  // elements of the operands
  std::string dtype = "f32";
  std::vector<int> threads;  // empty: 1 and all
  bool json = false;         // one JSON object per line
};

// Times the named ops, or all if there are no names. Returns the exit code: 2 for an unknown op or dtype.
int bench_ops(const std::vector<std::string>& names, const BenchOptions&);

}  // namespace lunagrad
