#pragma once
// Reads what a run wrote into its folder: config.json and metrics.jsonl. Leaves out rows that a resume made
// void, and an incomplete last line; skips and counts damaged ones. No Lua; any thread. Errors are of kind
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

// A line of metrics.jsonl: where it begins and its length without the newline, in bytes.
struct RowPlace {
  int64_t step = 0, row = 0, length = 0;
};

// A histogram or image that was logged; `what` summarizes a histogram, or is the image's file within the
// run's folder.
struct LoggedItem : RowPlace {
  std::string what;
};

struct RunRecord {
  std::string folder;
  std::string name;             // of the folder
  int64_t damaged = 0;          // lines of metrics.jsonl that are no rows, and were skipped
  bool config_damaged = false;  // the fields of config.json are missing, or may be wrong
  // From config.json; missing fields are empty.
  std::string script, started, outcome, device, git_commit, command_line;  // outcome "" while it runs
  std::vector<std::string> arguments;
  std::map<std::string, std::string> set;      // from --set
  std::map<std::string, std::string> scripts;  // the checksums of the copies of scripts, by their names
  bool resumed = false, sandbox = false;
  std::vector<std::string> unguarded;  // what the kernel did not limit in that sandbox, and why
  std::string parent;                  // the folder of the run that this one was forked from; "": none
  int64_t parent_step = 0;             // and the step after which it went on
  bool parent_changed = false;         // with another script, or another text of it
  std::vector<int64_t> reloads;        // the steps after which a changed script took over
  std::vector<ParamChange> changes;
  std::vector<LoggedItem> checkpoints;  // their paths; without automatic ones
  // Of each step with a checkpoint, also an automatic one: where its row stands, and how many rows the step
  // had in each metric when it was written.
  struct Written {
    int64_t row = 0;
    std::map<std::string, int64_t> rows;
  };
  std::map<int64_t, Written> written;
  int64_t voided = 0;                         // how often a resume or reload made earlier rows void
  std::string seed;                           // as text
  int64_t threads = 0;                        // of the CPU; 0: unknown
  std::map<std::string, std::string> params;  // as text
  double seconds = 0;
  int64_t steps = 0;                                                     // the last step of all rows
  int64_t steps_total = 0;                                               // 0: unknown
  std::optional<int64_t> steps_option;                                   // of --steps
  std::map<std::string, std::vector<MetricPoint>, std::less<>> metrics;  // in order of step
  std::map<std::string, std::vector<RowPlace>> text_rows;                // all of each name
  std::map<std::string, std::vector<LoggedItem>> images, histograms;
  // The latest results of lg.run.watch: part of a model -> name -> number.
  std::map<std::string, std::map<std::string, MetricPoint>> watched;
};

// Leaves out what a run that goes on after a step makes void: rows of later steps, and rows of this step
// that were written after its checkpoint.
void go_back(RunRecord&, int64_t step);
// The steps of a run whose checkpoints a resume or reload left behind, since it went on before them. A step
// whose checkpoint was written again is not among them.
std::set<int64_t> abandoned_checkpoints(const std::string& folder);
// A copy of a script in the folder: "script.lua". Error of kind file when it is not what the run wrote, or
// not in the folder.
std::string read_script_copy(const RunRecord&, const std::string& name);
// The text of a name in `run.text_rows` that was logged last; "" when it cannot be read.
std::string latest_text(const RunRecord& run, const std::string& name);

// A folder is a run's when it holds metrics.jsonl.
bool is_run(const std::string& folder);
// The runs in a folder, by name, which begins with the time of their start.
std::vector<std::string> find_runs(const std::string& folder);
// A path, or the name of a run in the folder of runs, or the end or beginning of one's name. Error of kind
// file if none or several are called so.
std::string find_run(const std::string& asked, const std::string& folder);
// The same for a command that takes files, too: a path that exists, or the name of a run in runs/.
std::string find_named(const std::string& asked);
// The same, but another name stays as it is: the name of a new file, or an error of the reader.
std::string find_if_named(const std::string& asked);
RunRecord read_run(const std::string& folder);
// "skipped 3 damaged records of runs/x/metrics.jsonl": what of the run could not be read; "" when all could.
std::string damage_of(const RunRecord&);
// The beginning of such a sentence: "skipped 1 damaged record of PATH".
std::string skipped_text(int64_t count, const std::string& path);
// Whether a line of metrics.jsonl is a row.
bool is_row(std::string_view line);
// The last part of its path, also of "." and of a path that ends with a slash.
std::string name_of_folder(const std::string& folder);
// Reads config.json only, not the metrics: fast for runs of any length.
RunRecord read_run_config(const std::string& folder);
// Reads config.json and the last rows: fast for runs of any length. The metrics hold the latest values.
RunRecord read_run_end(const std::string& folder);

// Reads a run that is still being written: each call of more() reads the complete lines added since the
// previous call.
class RunFollower {
 public:
  explicit RunFollower(std::string folder);
  // False: nothing was added. A file that became shorter is read from its beginning. Throws as read_run does.
  bool more();
  // Drops the points of the metrics but the last of each, once the caller has taken them over. Rows that
  // become void later are then known by record().voided only.
  void forget_points();
  const RunRecord& record() const { return run_; }
  uint64_t offset() const { return offset_; }  // of the first unread byte of metrics.jsonl

 private:
  RunRecord run_;
  uint64_t offset_ = 0;
};

}  // namespace lunagrad
