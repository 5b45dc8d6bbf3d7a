#include "script/launch_ranks.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "runtime/core/terminal_text.h"

namespace lunagrad {

std::vector<std::string> arguments_without_ranks() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> all, kept;
  for (std::string argument; std::getline(file, argument, '\0');) all.push_back(argument);
  bool behind = false;
  for (size_t i = 1; i < all.size(); ++i) {
    behind |= all[i] == "--";
    if (!behind && all[i] == "--ranks")
      ++i;
    else if (behind || !all[i].starts_with("--ranks="))
      kept.push_back(all[i]);
  }
  return kept;
}

void launch_ranks(const std::string& who, std::vector<std::string> words) {
  words.insert(words.begin(), "mpirun");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Set as settings of Open MPI, which other launchers do not read: root may start ranks, there may be more
  // ranks than cores, each rank may run on every core, and mpirun does not explain how a rank ended, since
  // the rank has already.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_orte_execute_quiet"})
    setenv(name, "1", 1);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  // Keeps hwloc from looking for GPUs in ten X servers. Another user's X server prints an error, and a name
  // server that does not resolve "localhost" takes five seconds for each of the ten.
  setenv("HWLOC_COMPONENTS", "-gl", 0);
  execvp(argv[0], argv.data());
  std::fprintf(stderr,
               "%s: --ranks needs mpirun, which cannot be started (%s); on Debian: apt-get install "
               "openmpi-bin\n",
               terminal_line(who).c_str(), std::strerror(errno));
}

}  // namespace lunagrad
