#pragma once
// Reads every file of a run's folder, of a sweep or of a bundle as a later use would read it, and reports
// damage. A repair moves damaged lines and files into the folder damaged/ beside them, and deletes nothing.
// No Lua; any thread.
#include <cstddef>
#include <string>
#include <vector>

namespace lunagrad {

struct Damage {
  std::string path, what;
  std::string repair;  // what the repair did; "": nothing
};

struct CheckReport {
  std::vector<Damage> damages;
  std::vector<std::string> notes;  // not damage, but worth knowing
  size_t runs = 0, sweeps = 0, bundles = 0;

  bool has_unrepaired() const;
};

// A run to which another process is writing is read, but not repaired.
void check_run(const std::string& folder, bool repair, CheckReport&);
// check_sweep() of script/run/sweep.h checks the sweep's own files, and the runs of its trials.
// A bundle cannot be repaired.
void check_bundle(const std::string& path, CheckReport&);

}  // namespace lunagrad
