#pragma once
// Starts ranks through mpirun, in the place of this process. For the main thread, before anything runs.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad {

inline constexpr int64_t kMostRanks = 4096;  // --ranks takes 1 to this

// The arguments of this process without --ranks N, which ends where those of the script begin (--).
std::vector<std::string> arguments_without_ranks();

// Replaces this process by `mpirun WORDS`, with settings that a single machine wants. Returns, with a message
// that begins with `who`, only when there is no mpirun.
void launch_ranks(const std::string& who, std::vector<std::string> words);

}  // namespace lunagrad
