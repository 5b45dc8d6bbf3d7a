#pragma once
// The legs of a sweep's trials, and who works on them. A leg is a part of a trial that is done without a
// break: the whole trial, or with successive halving what lies between two rungs. Each leg is one empty file,
// which only ever is renamed: from waiting/ to running/ by the worker that claims it, from there to done/ by
// the one that finished it, or back. Of several that try a rename, one succeeds, which makes every step
// happen once, on a network file system too; there are no locks. The file's name says which claim it is. Any
// thread. Errors are of kind file.
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
  int64_t attempt = 0;  // how often legs of the trial were claimed, up to this claim
  std::string worker;   // whose claim it is; "new" before the first

  std::string name() const;    // "00007.0.3.1f2e3d4c5b6a7988", of its file
  std::string folder() const;  // "00007.3.1f2e3d4c5b6a7988", of the run of this claim
  bool operator==(const Leg&) const = default;
};
std::optional<Leg> parse_leg(const std::string& name);

// "00007": the folder of a finished trial's run within the sweep's trials/.
std::string settled_name(int64_t trial);

// All legs at about one time.
struct Legs {
  std::vector<Leg> waiting, running, done;
  // Those whose files were not found, with neither claim nor worker: they were being renamed while the
  // folders were read, or are lost.
  std::vector<Leg> missing;
};
Legs read_legs(const std::string& sweep, int64_t trials, int legs);

// Renames the leg's file. False: another process did it before.
bool move_leg(const std::string& sweep, const char* from, const Leg& leg, const char* to, const Leg& renamed);
bool holds(const std::string& sweep, const Leg&);  // the claim is still in running/

}  // namespace lunagrad::sweep
