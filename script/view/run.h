#pragma once
// The data that a run exchanges with its owner and its viewers: its options, its events, the parameters that
// the script declares, and its outcome. Plain values; any thread may hold a copy.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/view/media.h"
#include "script/view/pause.h"
#include "script/view/source_place.h"
#include "script/view/surgery.h"

namespace lunagrad {

// Where NaN and Inf end a run. off: nowhere. step: in the loss and the leaf gradients of each step. op: in
// the results and the gradients of each op.
enum class GuardLevel { off, step, op };

// A new value of a parameter, which takes effect at the end of step `step`.
struct ParamEdit {
  int64_t step = 0;
  std::string name, value;
};

// Where a script is when it reaches a safe point: inside an op, a backward pass or plain Lua (`midst`), after
// an op, before a line, or at the end of a step, where a stop takes effect.
enum class SafePlace { midst, op, line, step_end };

// A console line that was evaluated in step `step` at a safe point, after the script had called `ops` ops in
// the step. `line`: the script's line, if `place` is a line.
struct TypedLine {
  int64_t step = 0, ops = 0;
  SafePlace place = SafePlace::op;
  int line = 0;
  std::string code;
};

// The texts of the modules that a script required from outside the bundled library, by file.
using Modules = std::map<std::string, std::string>;

struct Keyframe;
class KeyframeSink;

// The result of one test of a script. `message` says why it failed; "" when it passed.
struct TestResult {
  std::string name, message;
  double seconds = 0;
};

// The options of a run. The command line sets them.
struct RunOptions {
  std::vector<std::string> arguments;      // arg[1…] and `...` of the script
  std::map<std::string, std::string> set;  // --set k=v, read by lg.run.param
  std::optional<uint64_t> seed;
  std::string device;                 // "" = cpu
  std::optional<int64_t> steps;       // replaces the number of steps in lg.run.steps
  std::string run_directory;          // "" = runs/<time>-<script>-<id>
  bool write_run = true;              // false: no run folder
  std::string resume;                 // a run folder or a checkpoint to continue from; "" = from the start
  std::vector<ParamEdit> edits;       // edits of an earlier run, repeated at the same steps
  std::optional<std::string> source;  // replaces the content of the script's file
  std::vector<TypedLine> console;     // console lines of an earlier run, repeated at the same places
  Modules modules;                    // texts to use in place of these files
  // The folder in which require searches, and which a sandboxed script may read, in place of the script's own
  // folder. For another user's run it is the run's folder.
  std::string folder;
  // The run continues from this keyframe, after its step (script/time/keyframe.h). `start_changed`: the
  // script, or its text, differs from the script of the keyframe.
  std::shared_ptr<const Keyframe> start;
  bool start_changed = false;
  std::shared_ptr<KeyframeSink> keyframe_sink;  // receives keyframes of the run; null: none
  size_t keyframes = 0;                         // bytes of keyframes to keep in the run folder; 0: none
  // on_tape gets the tape of step `tape_step`, as a line of tape.jsonl, on the session's thread.
  int64_t tape_step = 0;
  std::function<void(const std::string& line)> on_tape;
  std::string parent;          // folder of the run that this run was forked from
  int64_t parent_step = 0;     // the parent's step after which it continues
  bool tensorboard = false;    // also writes a TensorBoard event file to the run folder
  bool strict_device = false;  // Error when the device lacks an op; otherwise the CPU runs it
  bool eager = false;          // no call is deferred, whatever the script requests
  bool plan = false;           // steps defer their calls, and the plan of one step is printed on stderr
  // Only recorded in config.json: every op always gives the same numbers for the same seed, device and thread
  // count.
  bool deterministic = false;
  bool sandbox = false;  // the script is not trusted: sandbox.h
  size_t memory = 0;     // limit of Lua's heap and the tensors in bytes, 0 = none (in a sandbox 256 MiB)
  size_t disk = 0;       // limit in bytes of the files that the script writes, 0 = none (in a sandbox 1 GiB)
  double timeout = 0;    // seconds after which the owner of the session ends the run, 0 = none
  // For a sandbox. guarded: the kernel already limits the whole process; otherwise it limits the script's
  // thread. unguarded: what it does not limit, for config.json.
  bool guarded = false;
  std::vector<std::string> unguarded;
  GuardLevel guard = GuardLevel::off;
  // Files and folders to read in place of those that the script names: a bundle's.
  std::map<std::string, std::string> stand_ins;
  // For a run that is only repeated to be inspected: the script writes, changes and removes copies of files,
  // and its system commands are not run.
  bool files_aside = false;
  std::string aside_folder;  // folder of the copies; "": a new temporary folder
  size_t leaks = 0;  // finds values that outlive their step; a tensor counts from this many bytes; 0 = off
  bool begin_paused = false;  // the run pauses before its first line, as after SessionControl::pause()
  bool preload = false;       // `lg` is a global, as for -e and the REPL
  // A user can resume the run: lg.run.breakpoint pauses it, and the states of lg.run.state are kept, so that
  // it can continue from its last good step.
  bool interactive = false;
  // seconds between automatic checkpoints, of which only the last stays; 0: none
  double checkpoint_every = 0;
  std::string command_line;  // for config.json
  // Set for a script with tests; called for each test on the session's thread.
  std::function<void(const TestResult&)> on_test;
  std::string test_filter;  // runs only tests whose full name contains it
};

// The options of a session, for all of its runs.
struct SessionOptions {
  // io.stdout and io.stderr of a script are the process's own, as the command line has them. Otherwise what
  // a script writes there becomes events of kind output, as what it prints.
  bool process_streams = false;
  // Texts of modules by the names with which scripts require them: found before files, after the bundled
  // library. A run folder has no copies of them.
  std::map<std::string, std::string> modules;
};

enum class SessionState { idle, running, paused, stopping };

// The outcome of a script. The numbers are the exit codes of the command line.
enum class Outcome : int {
  ok = 0,
  error = 1,
  usage = 2,
  numeric = 4,
  device = 5,
  file = 6,
  memory = 8,
  stopped = 130
};

struct Event {
  enum class Kind {
    output,
    warning,
    error,
    state,
    step,
    metrics,
    param,
    run_folder,
    checkpoint,
    reload,
    break_hit,
    surgery,
    not_finite,
    growth,
    probe,
    image,
    histogram,
    text,
    source,
    ended
  } kind;
  // output: the text that print, io.write or a standard stream's write wrote, with its newlines. warning: the
  // message. error: message and traceback. param: the value as text. run_folder, checkpoint: the path.
  // reload: the values that were kept, or why the run starts from its first step. break_hit: the explanation.
  // surgery: what was changed, or undone. not_finite: "NaN since step 20: sqrt at model.lua:31", and below it
  // the explanation, if there is one. growth: what to write instead. image, histogram, text: the name.
  // source, in an interactive run: the text of the script or of a module that it requires, loaded after
  // `step` steps; `place.file` names it as tapes do.
  std::string text;
  bool to_stderr = false;  // output: the script wrote it to io.stderr
  std::string subject;     // growth: the variable whose graph grows from step to step
  // error: the line that failed. state: the line of a pause. Others: the line that caused the event.
  SourcePlace place;
  SessionState state = SessionState::idle;
  int64_t step = 0, total = 0;  // step, metrics; total 0 = unknown
  int64_t since = 0;            // not_finite: the first step in which the value can have arisen
  double time = 0;              // seconds since the run began
  // metrics: names and values. param: its name and value; NaN when the value is not a number.
  std::vector<std::pair<std::string, double>> metrics;
  Outcome outcome = Outcome::ok;  // ended, error
  int exit_code = 0;              // ended: the outcome's number, or the argument of os.exit
  // id of the probe; metrics: its name and value; text: why it has no value, "" if it has
  uint64_t probe = 0;
  // break_hit: ids of the breakpoint and the node. not_finite: the op's node. Node 0: it was not recorded.
  uint64_t breakpoint = 0, node = 0;
  PausePtr pause;                      // state: of a pause; error: of the error that ended the run
  std::shared_ptr<const Media> media;  // image, histogram, text: the logged value
  std::shared_ptr<const SurgeryHistory> surgery;
};
using EventSink = std::function<void(const Event&)>;

// A parameter that the script declared with lg.run.param or lg.run.live.
struct ParamInfo {
  std::string name;
  std::string value;             // as text: "0.001", "true", "adam"
  std::optional<double> number;  // value of a numeric parameter
  std::optional<double> min, max;
  bool integer = false;
  bool log = false;                  // its slider is logarithmic
  bool live = false;                 // made by lg.run.live: a change takes effect in the next step
  std::vector<std::string> choices;  // the allowed values of a text; empty: any text
  std::string fallback;              // the default in the script, as text
  SourcePlace place;
};

}  // namespace lunagrad
