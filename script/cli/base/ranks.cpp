#include "script/cli/base/ranks.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "runtime/core/error.h"
#include "runtime/dist/world.h"
#include "runtime/system/libraries.h"
#include "script/launch_ranks.h"
#include "script/parts/names.h"

namespace lunagrad {
namespace {

// Set for the ranks: the number given to --ranks, and whether rank 0 shows its progress as a bar.
constexpr const char* kRanks = "LUNAGRAD_RANKS";
constexpr const char* kBar = "LUNAGRAD_RANKS_BAR";

}  // namespace

int start_ranks(int64_t count) {
  if (is_left_out("lg.distributed")) fail_left_out("--ranks");
  if (dist::launched_size() > 1) {
    std::cerr << "lunagrad run: --ranks inside of mpirun or srun, which started " << dist::launched_size()
              << " ranks already; leave it out\n";
    return int(Outcome::usage);
  }
  setenv(kRanks, std::to_string(count).c_str(), 1);
  if (resolve(ProgressStyle::automatic, false) == ProgressStyle::bar) setenv(kBar, "1", 1);
  std::vector<std::string> words = {"-np", std::to_string(count), own_program()};
  for (std::string& word : arguments_without_ranks()) words.push_back(std::move(word));
  launch_ranks("lunagrad run", std::move(words));
  return int(Outcome::usage);
}

void take_rank(RunRequest& request) {
  if (dist::launched_size() == 1) return;
  if (dist::launched_rank() == 0) {
    const bool bar = std::getenv(kBar) && request.progress == ProgressStyle::automatic && !request.json;
    if (bar) request.progress = ProgressStyle::bar;
    return;
  }
  request.progress = ProgressStyle::none;
  if (request.json) dup2(STDERR_FILENO, STDOUT_FILENO);
  request.json = false;
}

}  // namespace lunagrad
