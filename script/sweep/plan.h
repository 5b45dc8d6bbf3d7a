#pragma once
// What a sweep tries: the script, its parameters, and the values of every trial, which are all chosen when
// the sweep is made. The file sweep.json in the sweep's folder; never changed afterwards. Any thread. Errors
// are of kind value for what the user asked for, of kind file for a bad file.
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
  std::string script_hash;  // of its bytes
  std::string directory;    // absolute: where trials run
  std::vector<std::string> arguments;
  std::vector<Axis> axes;
  std::map<std::string, std::string> set;        // the same for all trials
  std::vector<std::vector<std::string>> trials;  // values, in the order of the axes
  uint64_t seed = 0;                             // of what is drawn, and of every run
  std::string metric = "loss";
  bool maximize = false;
  // Asynchronous successive halving: leg k of a trial ends after smallest * eta^k steps, the last one with
  // the script. Without it there is one leg.
  bool asha = false;
  int64_t eta = 4, smallest = 100;
  int legs = 1;
  std::string device;
  std::optional<int64_t> steps;  // replaces those of lg.run.steps
  int64_t threads = 1;
  std::string guard = "off";
  double checkpoint_every = 60;  // seconds

  // The step after which the leg ends; nothing when the script ends it.
  std::optional<int64_t> last_step(int leg) const;
  // Whether the value a is better than b.
  bool better(double a, double b) const { return maximize ? a > b : a < b; }
};

// Chooses the values of all trials; `trials` is how many, empty: all points of the grid. With random
// parameters the points of the grid take turns.
void choose_trials(Plan&, std::optional<int64_t> trials);
// Of the script's text, 16 hex digits. Error of kind file when it cannot be read.
std::string hash_of_file(const std::string& path);

// Makes the folder of a sweep, which must not exist or be empty. Nobody sees a half-made one.
void make_sweep(const std::string& folder, const Plan&);
bool is_sweep(const std::string& folder);
Plan read_plan(const std::string& folder);
// Error when a script is not the one that the sweep was made with.
void check_script(const Plan&, const std::string& script);
// Whose a sweep is: sweep.json has the mark of the user who made it.
RunOrigin origin_of_sweep(const std::string& folder);

}  // namespace lunagrad::sweep
