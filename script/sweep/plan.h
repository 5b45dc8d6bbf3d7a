#pragma once
// What a sweep tries: the script, its parameters, and the values of every trial, which are all chosen when
// the sweep is made. Stored in the file sweep.json in the sweep's folder, which is never changed afterwards.
// Any thread. Errors are of kind value for wrong requests of the user, of kind file for a bad file.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "script/sweep/axis.h"
#include "script/trust/marks.h"

namespace lunagrad::sweep {

struct Plan {
  std::string script;       // absolute
  std::string script_hash;  // of the script's bytes
  std::string directory;    // absolute: where trials run
  std::vector<std::string> arguments;
  std::vector<Axis> axes;
  std::map<std::string, std::string> set;        // parameters with the same value in all trials
  std::vector<std::vector<std::string>> trials;  // values of each trial, in the order of the axes
  uint64_t seed = 0;                             // of the drawn values, and of every run
  std::string metric = "loss";
  bool maximize = false;
  // Asynchronous successive halving: leg k of a trial ends after smallest * eta^k steps, the last leg when
  // the script ends. Without it there is one leg.
  bool asha = false;
  int64_t eta = 4, smallest = 100;
  int legs = 1;
  std::string device;
  std::optional<int64_t> steps;  // replaces the number of steps in lg.run.steps
  int64_t threads = 1;
  std::string guard = "off";
  double checkpoint_every = 60;  // seconds

  // The step after which the leg ends; empty when the script ends it.
  std::optional<int64_t> last_step(int leg) const;
  // Whether the value a is better than b.
  bool better(double a, double b) const { return maximize ? a > b : a < b; }
};

// Chooses the values of all trials. `trials`: the number of trials; empty: one per point of the grid. With
// random parameters the points of the grid are used in turn.
void choose_trials(Plan&, std::optional<int64_t> trials);
// Hash of the file's bytes, 16 hex digits. Error of kind file when it cannot be read.
std::string hash_of_file(const std::string& path);

// Makes the folder of a sweep, which must not exist or must be empty. Other processes never see it half-made.
void make_sweep(const std::string& folder, const Plan&);
Plan read_plan(const std::string& folder);
// Error when the script is not the script that the sweep was made with.
void check_script(const Plan&, const std::string& script);
// The owner of a sweep: sweep.json has the mark of the user who made it.
RunOrigin origin_of_sweep(const std::string& folder);

}  // namespace lunagrad::sweep
