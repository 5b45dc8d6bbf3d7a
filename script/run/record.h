#pragma once
// Reads what a run wrote into its folder: config.json and metrics.jsonl. Leaves out rows that a resume made
// void, and an incomplete last line; skips and counts damaged rows. No Lua; any thread. Errors are of kind
// file.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct MetricPoint {
  int64_t step = 0;
  double time = 0;  // seconds since the run began
  double value = 0;
};

// A live parameter that was changed at the end of a step.
struct ParamChange {
  int64_t step = 0;
  std::string name, value;
};

// The place of a line in metrics.jsonl: its offset and its length without the newline, in bytes.
struct RowPlace {
  int64_t step = 0, row = 0, length = 0;
};

// A logged histogram or image. `what` is a summary of the histogram, or the image's file within the run's
// folder.
struct LoggedItem : RowPlace {
  std::string what;
};

struct RunRecord {
  std::string folder;
  std::string name;             // name of the folder
  int64_t damaged = 0;          // skipped lines of metrics.jsonl that are not rows
  bool config_damaged = false;  // fields of config.json are missing or may be wrong
  // From config.json; missing fields are empty.
  // outcome: "" while the run goes on
  std::string script, started, outcome, device, git_commit, command_line;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> set;      // parameters given with --set
  std::map<std::string, std::string> scripts;  // checksums of the copies of scripts, by name
  bool resumed = false, sandbox = false;
  std::vector<std::string> unguarded;  // what the kernel did not limit in the sandbox, and why
  std::string parent;                  // folder of the run that this run was forked from; "": none
  int64_t parent_step = 0;             // the fork's first step follows this step
  bool parent_changed = false;         // the fork runs another script, or another text of it
  std::vector<int64_t> reloads;        // steps after which a changed script took over
  std::vector<ParamChange> changes;
  std::vector<LoggedItem> checkpoints;  // with their paths; without automatic checkpoints
  // For each step with a checkpoint, automatic ones included: the place of the checkpoint's row, and the
  // number of rows that the step had in each metric when the checkpoint was written.
  struct Written {
    int64_t row = 0;
    std::map<std::string, int64_t> rows;
  };
  std::map<int64_t, Written> written;
  int64_t voided = 0;                         // how often a resume or reload made earlier rows void
  std::string seed;                           // as text
  int64_t threads = 0;                        // threads of the CPU; 0: unknown
  std::map<std::string, std::string> params;  // as text
  double seconds = 0;
  int64_t steps = 0;                                                     // the highest step of all rows
  int64_t steps_total = 0;                                               // 0: unknown
  std::optional<int64_t> steps_option;                                   // value of --steps
  std::map<std::string, std::vector<MetricPoint>, std::less<>> metrics;  // in order of step
  std::map<std::string, std::vector<RowPlace>> text_rows;                // all rows of each text, by name
  std::map<std::string, std::vector<LoggedItem>> images, histograms;
  // The latest results of lg.run.watch: part of a model -> name -> number.
  std::map<std::string, std::map<std::string, MetricPoint>> watched;
};

// Removes the rows that become void when a run goes on after a step: rows of later steps, and rows of this
// step that were written after its checkpoint.
void go_back(RunRecord&, int64_t step);
// The steps of checkpoints that became invalid because a resume or reload went on from an earlier step. A
// step whose checkpoint was written again is left out.
std::set<int64_t> abandoned_checkpoints(const std::string& folder);
// Reads a copy of a script in the folder: "script.lua". Error of kind file when it is not the text that the
// run wrote, or not in the folder.
std::string read_script_copy(const RunRecord&, const std::string& name);
// The latest logged text of a name in `run.text_rows`; "" when it cannot be read.
std::string latest_text(const RunRecord& run, const std::string& name);

// Whether the folder holds metrics.jsonl.
bool is_run(const std::string& folder);
// The runs in a folder, sorted by name. Names begin with the time of the start.
std::vector<std::string> find_runs(const std::string& folder);
// Finds a run by its path, or by its name in the folder of runs or the beginning or end of the name. Error of
// kind file if none or several match.
std::string find_run(const std::string& asked, const std::string& folder);
// find_run in runs/, for a command that takes files too: a path that exists is returned as it is.
std::string find_named(const std::string& asked);
// find_named, but a name that matches nothing is returned as it is: it may be a new file, or the reader
// reports it.
std::string find_if_named(const std::string& asked);
RunRecord read_run(const std::string& folder);
// "skipped 3 damaged records of runs/x/metrics.jsonl": what could not be read of the run; "" when everything
// could.
std::string damage_of(const RunRecord&);
// The beginning of damage_of's sentence: "skipped 1 damaged record of PATH".
std::string skipped_text(int64_t count, const std::string& path);
// Whether a line of metrics.jsonl is a row.
bool is_row(std::string_view line);
// The last part of the folder's path, also for "." and for a path that ends with a slash.
std::string name_of_folder(const std::string& folder);
// Reads config.json only: fast for runs of any length.
RunRecord read_run_config(const std::string& folder);
// Reads config.json and the last rows: fast for runs of any length. The metrics hold the latest values.
RunRecord read_run_end(const std::string& folder);

// Reads a run that is still being written: each call of more() reads the complete lines added since the
// previous call.
class RunFollower {
 public:
  explicit RunFollower(std::string folder);
  // Returns false if nothing was added. A file that became shorter is read from its beginning. Throws the
  // errors of read_run.
  bool more();
  // Drops the points of the metrics but the last of each, once the caller has copied them. After that, only
  // record().voided tells that rows became void.
  void forget_points();
  const RunRecord& record() const { return run_; }
  uint64_t offset() const { return offset_; }  // offset of the first unread byte of metrics.jsonl

 private:
  RunRecord run_;
  uint64_t offset_ = 0;
};

}  // namespace lunagrad
