#pragma once
// Replaces this process by mpirun, which starts the ranks. For the main thread, before anything runs.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad {

inline constexpr int64_t kMostRanks = 4096;  // limit of --ranks, which counts from 1

// The arguments of this process without --ranks N. The arguments of the script, which follow `--`, are kept.
std::vector<std::string> arguments_without_ranks();

// Replaces this process by `mpirun WORDS`, with settings for a single machine. Returns only when there is no
// mpirun, with a message that begins with `who`.
void launch_ranks(const std::string& who, std::vector<std::string> words);

}  // namespace lunagrad
