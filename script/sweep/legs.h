#pragma once
// The legs of a sweep's trials, and which worker has each. A leg is a part of a trial that runs without a
// break: the whole trial, or with successive halving the part between two rungs. Each leg is one empty file
// that is only ever renamed: from waiting/ to running/ by the worker that claims it, from there to done/ by
// the worker that finished it, or back to waiting/. If several workers try the same rename, one succeeds, so
// every step happens once, on a network file system too; there are no locks. The file's name contains the
// claim. Any thread. Errors are of kind file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lunagrad::sweep {

inline constexpr const char* kWaiting = "waiting";
inline constexpr const char* kRunning = "running";
inline constexpr const char* kDone = "done";

// A leg with its latest claim.
struct Leg {
  int64_t trial = 0;    // from 1
  int leg = 0;          // from 0
  int64_t attempt = 0;  // number of claims of the trial's legs, this claim included
  std::string worker;   // the worker that has the claim; "new" before the first claim

  std::string name() const;    // "00007.0.3.1f2e3d4c5b6a7988", name of the leg's file
  std::string folder() const;  // "00007.3.1f2e3d4c5b6a7988", folder of this claim's run
  bool operator==(const Leg&) const = default;
};
std::optional<Leg> parse_leg(const std::string& name);

// "00007": the folder of a finished trial's run within the sweep's trials/.
std::string settled_name(int64_t trial);

// All legs at approximately one time.
struct Legs {
  std::vector<Leg> waiting, running, done;
  // Legs whose files were not found, without claim and worker: they were renamed while the folders were read,
  // or are lost.
  std::vector<Leg> missing;
};
Legs read_legs(const std::string& sweep, int64_t trials, int legs);

// Renames the leg's file. False if another process did it first.
bool move_leg(const std::string& sweep, const char* from, const Leg& leg, const char* to, const Leg& renamed);
bool holds(const std::string& sweep, const Leg&);  // whether the claim is still in running/

}  // namespace lunagrad::sweep
