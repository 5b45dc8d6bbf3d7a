// `lunagrad fork RUN --step S`: a new run that goes on behind a step of another, with other parameters or
// another text of its script.
#include <filesystem>
#include <iostream>
#include <memory>

#include "runtime/error.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/replaying.h"
#include "script/cli/base/run_flags.h"
#include "script/cli/command/all.h"
#include "script/run/folder.h"
#include "script/time/keyframe_folder.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

struct Fork {
  std::string folder, script;
  std::optional<int64_t> step;
  RunFlags flags;
};

// The keyframe without the parameters that the user sets: the script declares them with their new values.
KeyframePtr without_params(const KeyframePtr& keyframe, const std::map<std::string, std::string>& set) {
  auto copy = std::make_shared<Keyframe>(*keyframe);
  std::erase_if(copy->params, [&](const ParamStart& param) { return set.contains(param.name); });
  return copy;
}

KeyframePtr states_at(ShownReplay& replay, int64_t step) {
  replay.show_up_to(step);
  const KeyframePtr keyframe = replay->keyframe_at(step);
  replay.finish();
  if (!keyframe)
    fail(replay->run().script,
         ": registers nothing with lg.run.state, so there is nothing to go on with behind step ", step,
         "; register the model, the optimizer and the loader, and run it again");
  return keyframe;
}

int fork(const Fork& asked) {
  RunRequest request = asked.flags.request;
  RunOptions options;
  {
    ShownReplay replay("fork", asked.folder);
    const RunRecord& parent = replay->run();
    const int64_t step = *asked.step;
    const KeyframePtr keyframe = states_at(replay, step);
    const Timeline& line = replay->timeline();
    options = options_behind(line, line.era_of(step + 1), keyframe);
    options.edits.clear();
    options.console.clear();
    const RunOptions& given = request.options;
    for (const auto& [name, value] : given.set) options.set[name] = value;
    options.start = without_params(options.start, given.set);
    if (given.steps) options.steps = given.steps;
    if (!given.device.empty()) options.device = given.device;
    if (options.steps && *options.steps <= step)
      fail("--steps ", *options.steps, ": the fork goes on behind step ", step,
           ", and --steps counts from the first step of all");
    request.script = parent.script;
    if (!asked.script.empty()) {
      request.script = asked.script;
      options.source.reset();
      options.modules.clear();
      options.start_changed = true;
    }
    options.parent = fs::absolute(asked.folder).lexically_normal().string();
    options.parent_step = step;
    options.keyframes = given.keyframes;
    options.command_line = given.command_line;
    options.run_directory =
        given.run_directory.empty() ? default_run_directory(request.script) : given.run_directory;
  }
  if (is_run(options.run_directory))
    fail_as(ErrorKind::file, options.run_directory, ": holds a run already; --run-dir names another folder");
  write_keyframe(options.run_directory, *options.start);
  options.write_run = true;
  request.options = std::move(options);
  return run_and_wait(request);
}

}  // namespace

Action add_fork(Program& program) {
  const auto asked = std::make_shared<Fork>();
  RunRequest& request = asked->flags.request;
  CLI::App& command =
      add_command(program, "fork", "go on behind a step of a run, in a new run, with changes");
  add_argument(command, "RUN", asked->folder, "a run's folder");
  add_option(command, "--step", asked->step, "the step behind which the new run goes on");
  add_list(command, "--set", asked->flags.set, "NAME=VALUE: another value of a parameter; may be repeated");
  add_option(command, "--script", asked->script, "another script, or a changed text of the run's", "FILE");
  add_option(command, "--steps", request.options.steps, "replaces the number of steps in lg.run.steps");
  add_option(command, "--device", request.options.device, "default device of tensors (default: the run's)");
  add_option(command, "--run-dir", request.options.run_directory,
             "folder for the new run's files (default runs/<time>-<script>-<id>)");
  add_size(command, "--keyframes", request.options.keyframes,
           "keep the states of some steps of the new run, within so many MiB or GiB");
  add_flag(command, "--json", request.json, "one JSON object per line on stdout, everything else on stderr");
  request.options.command_line = program.command_line;
  return [=] {
    std::string wrong = asked->flags.take_settings();
    if (wrong.empty() && !asked->step) wrong = "--step S says behind which step the new run goes on";
    if (wrong.empty()) return carry_out("fork", [&] { return fork(*asked); });
    std::cerr << "lunagrad fork: " << wrong << "\n";
    return int(Outcome::usage);
  };
}

}  // namespace lunagrad
