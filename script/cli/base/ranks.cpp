#include "script/cli/base/ranks.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "runtime/dist/world.h"
#include "runtime/error.h"
#include "script/cli/base/own_program.h"

namespace lunagrad {
namespace {

// Set for the ranks: how many --ranks asked for, and whether the progress of rank 0 is a bar.
constexpr const char* kRanks = "LUNAGRAD_RANKS";
constexpr const char* kBar = "LUNAGRAD_RANKS_BAR";

// The arguments of this process without --ranks N.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> all, kept;
  for (std::string argument; std::getline(file, argument, '\0');) all.push_back(argument);
  bool behind = false;  // the arguments after -- are the script's
  for (size_t i = 1; i < all.size(); ++i) {
    behind |= all[i] == "--";
    if (!behind && all[i] == "--ranks")
      ++i;
    else if (behind || !all[i].starts_with("--ranks="))
      kept.push_back(all[i]);
  }
  return kept;
}

}  // namespace

int start_ranks(int64_t count) {
  if (dist::launched_size() > 1) {
    std::cerr << "lunagrad run: --ranks inside of mpirun or srun, which started " << dist::launched_size()
              << " ranks already; leave it out\n";
    return int(Outcome::usage);
  }
  std::vector<std::string> words = {"mpirun", "-np", std::to_string(count), own_program()};
  for (std::string& word : own_arguments()) words.push_back(std::move(word));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  setenv(kRanks, std::to_string(count).c_str(), 1);
  if (resolve(ProgressStyle::automatic, false) == ProgressStyle::bar) setenv(kBar, "1", 1);
  // As settings of Open MPI, which other launchers do not read: root may start ranks, more of them than there
  // are cores, each may run on every core, and mpirun does not explain how a rank ended, since the rank has.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_orte_execute_quiet"})
    setenv(name, "1", 1);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  execvp(argv[0], argv.data());
  std::cerr << "lunagrad run: --ranks needs mpirun, which cannot be started (" << std::strerror(errno)
            << "); on Debian: apt-get install openmpi-bin\n";
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
