#pragma once
// One run of a script, as lg.run sees it: its parameters, steps, logged values and folder. Belongs to the
// session's thread; params() has functions for any thread.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/core/tensor.h"
#include "runtime/statistics/statistics.h"
#include "script/run/event_file.h"
#include "script/run/folder.h"
#include "script/run/git.h"
#include "script/run/params.h"
#include "script/run/used_files.h"
#include "script/view/run.h"

namespace lunagrad {

// A script: a file, or a text with a name.
struct Script {
  std::string path;  // of the file; "" for a text
  std::string name;  // Lua's chunk name: "@train.lua", "=(command line)"
  std::string source;
  RunOptions options;
};

class Run {
 public:
  Run(const Script& script, std::function<void(Event)> emit);
  ~Run();
  void set_source(std::string source) { source_ = std::move(source); }  // the text for the copy in the folder
  // Sends the script's text to viewers. Called once, before the script runs its first line, after `step`
  // steps.
  void tell_source(int64_t step);
  // Called when the script requires a module: copies the module's text into the folder, and sends it to
  // viewers.
  void remember_module(const std::string& file);
  // Called when a line of the console was evaluated inside the run.
  void log_console(const TypedLine&);

  // Takes over the folder and parameters of the previous script, which ended after step `step`. Called before
  // this script runs.
  void take_over(Run& before, int64_t step);
  // Sends an event that says which of the states passed on the script has used.
  void tell_reloaded(const std::string& what);
  // Whether the script has steps and the current step will end.
  bool awaits_boundary() const { return in_steps_ || (!has_steps_ && done_ > 0); }
  // A sentence about a --set that names no parameter. Empty when all names are declared, and after a reload,
  // whose script may have dropped one.
  std::string unknown_param() const { return reloads_.empty() ? params_.unknown() : std::string(); }

  Params& params() { return params_; }
  const RunOptions& options() const { return options_; }
  double seconds() const;  // since the run began, without the time between a checkpoint and a resume
  std::optional<int64_t> total() const { return total_; }  // total number of steps
  int64_t done() const { return done_; }                   // number of completed steps

  // The loop of lg.run.steps. begin_steps may be called once per run; UsageError when --set names an unknown
  // parameter.
  void begin_steps(std::optional<int64_t> total, const SourcePlace&);
  // Ends the current step, if there is one: reads its logged rows and applies edits of parameters.
  void end_step();
  int64_t next_step();                    // the number of the new step; 0 when all are done
  int64_t step() const { return step_; }  // the current or last step
  bool in_steps() const { return in_steps_; }
  // Called when an optimizer made a step. Returns whether that is a step boundary, as it is in a script
  // without lg.run.steps.
  bool count_step();

  void ask_checkpoint() { checkpoint_asked_ = true; }  // writes a checkpoint at the end of the step
  bool takes_checkpoint() { return std::exchange(checkpoint_asked_, false); }
  // The path of a checkpoint after the completed steps, in the run's folder, which is created if needed.
  std::string checkpoint_path();
  void checkpoint_written(const std::string& path, bool automatic);  // an automatic checkpoint sends no event
  void lose_checkpoint();  // the checkpoint could not be written; the caller warns
  // The newest checkpoint in a run folder, which is found as in find_if_named, or the given file; "" when the
  // folder has none. Error of kind file.
  std::string find_checkpoint(const std::string& path) const;
  // The earlier checkpoints in the run of a checkpoint, the newest first.
  std::vector<std::string> checkpoints_before(const std::string& path) const;
  // Continues after a checkpoint's step, with its parameters (--set takes precedence) and random number
  // generator.
  struct Checkpoint {
    std::string path;
    int64_t step = 0;
    double seconds = 0;
    std::map<std::string, std::string> params;
    uint64_t seed = 0, stream = 0;
  };
  void resume_at(Checkpoint);
  void go_on_at(int64_t step, uint64_t seed, uint64_t stream);  // resume_at for a reload

  // Numbers or scalar tensors. A tensor on the CPU is read when it is logged, on another device at the next
  // step boundary.
  using Row = std::vector<std::pair<std::string, std::variant<double, Tensor>>>;
  void log(Row row, const SourcePlace&);
  void log_text(const std::string& name, const std::string& value);
  // A picture [channels, height, width] or [height, width], or pictures [pictures, channels, height, width],
  // which are shown side by side. `normalize`: the values are scaled to 0 … 1. Error for other shapes or
  // types.
  void log_image(const std::string& name, const Tensor&, bool normalize);
  void log_histogram(const std::string& name, const Statistics&);
  // The results of lg.run.watch in this step: part of a model -> name -> number.
  using Findings = std::map<std::string, std::map<std::string, double>>;
  void log_watch(const Findings&);
  bool asks_for_tape(int64_t step) const { return options_.on_tape && options_.tape_step == step; }
  void log_tape(int64_t step, const std::string& line) {
    if (folder_) folder_->append_tape(line);
    if (asks_for_tape(step)) options_.on_tape(line);
  }
  // Called when the script has read a file other than a module, or has written a file.
  void note_read(const std::string& path);
  void note_written(const std::string& path) { used_files_.written(path); }
  // Whether logged values are used: written to the folder, or shown in an interactive run.
  bool keeps_values() const { return options_.write_run || options_.interactive; }
  // If on, a logged value that is NaN or infinite is an Error of kind numeric.
  void assert_finite(bool on) { assert_finite_ = on; }

  // Params::declare, with an event and an entry in config.json when the parameter is new.
  const Param& declare(ParamInfo, ParamValue fallback);
  void remember_output(const std::string& text);  // appended to log.txt once there is a folder
  void flush();                                   // reads and writes the rows whose values are on a device
  // Records how the run ended. Returns "", or a sentence that says which files of the run's folder could not
  // be written. In that case a run that has otherwise succeeded is recorded with the outcome `file`.
  std::string finish(Outcome, int exit_code);
  const RunFolder* folder() const { return folder_.get(); }
  // Makes the folder, unless it exists or none is wanted. Called when the first value is logged; in a sandbox
  // at the start, because the kernel can only limit folders that exist. Error of kind file.
  void open_folder();

 private:
  struct Pending {
    int64_t step;
    double time;
    Row row;
    SourcePlace place;
  };
  void boundary();
  void tell(const Param&);
  void tell_text(const std::string& file, const std::string& source);
  void write_row(Pending);
  void show(Event::Kind, Media);
  void warn(const std::string& message);
  double date(double time) const;  // seconds since 1970
  void write_config(const char* outcome, int exit_code);
  void write_end(Outcome, int exit_code);
  void write_script(const char* name);  // a copy of source_
  void write_module(const std::string& file, const std::string& source);
  Event event(Event::Kind) const;

  RunOptions options_;
  std::string path_, name_, source_;
  std::function<void(Event)> emit_;
  Params params_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string started_;  // UTC
  int64_t step_ = 0;
  int64_t done_ = 0;         // number of completed steps
  int64_t begun_after_ = 0;  // completed steps of the run before the script's first line
  std::optional<int64_t> total_;
  bool in_steps_ = false;
  bool has_steps_ = false;
  bool checkpoint_asked_ = false;
  std::optional<Checkpoint> resumed_;
  std::optional<std::pair<uint64_t, uint64_t>> random_;  // seed and stream at the first step
  double earlier_ = 0;                                   // seconds of the run before start_
  std::optional<double> ended_;                          // seconds() at the end of the run
  struct Reload {
    int64_t step;
    std::string script;  // name of the copy in the folder
  };
  std::vector<Reload> reloads_;
  std::map<std::string, std::string> script_sums_;  // checksums of the copies in the folder
  SourcePlace steps_place_;
  bool assert_finite_ = false;
  std::vector<Pending> pending_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<GitDiff> diff_;
  std::unique_ptr<EventFile> events_;
  bool folder_failed_ = false;
  std::string early_output_;  // output before the folder existed
  UsedFiles used_files_;
  std::vector<std::string> early_files_;  // lines of files.jsonl from before the folder existed
  Modules early_modules_;                 // modules required before the folder existed
};

const char* name_of(SafePlace);  // the name in metrics.jsonl
// The value to log: an f32 becomes the double with the same shortest digits, 0.3 and not 0.30000001192092896.
double logged_number(const Tensor&);

}  // namespace lunagrad
