#pragma once
// `lunagrad bench --ops`: the speed of every op compared with copying memory, measured in the same run. Runs
// on the calling thread with its own context. The table goes to standard output, progress to standard error
// if that is a terminal.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad {

struct BenchOptions {
  int64_t size = 1 << 24;  // elements of the operands
  std::string dtype = "f32";
  std::vector<int> threads;  // empty: one thread, and all threads
  bool json = false;         // one JSON object per line
};

// Times the named ops, or all if there are no names. Returns the exit code: 2 for an unknown op or dtype.
int bench_ops(const std::vector<std::string>& names, const BenchOptions&);

}  // namespace lunagrad
