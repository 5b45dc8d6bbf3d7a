// `lunagrad fork RUN --step S`: starts a new run that continues after a step of another run, with other
// parameters or a changed script.
#include "script/time/fork.h"

#include <iostream>
#include <memory>

#include "script/cli/base/carry_out.h"
#include "script/cli/base/replaying.h"
#include "script/cli/base/run_flags.h"
#include "script/cli/command/all.h"
#include "script/cli/trust/permission.h"
#include "script/cli/trust/time_limit.h"
#include "script/run/folder.h"
#include "script/run/record.h"

namespace lunagrad {
namespace {

struct Fork {
  std::string folder, script;
  std::optional<int64_t> step;
  RunFlags flags;
  TrustFlags trust;
};

int fork(const Fork& asked) {
  RunRequest request = asked.flags.request;
  const RunOptions& given = request.options;
  RunOptions options;
  {
    const std::string folder = find_named(asked.folder);
    const Permission allowed = permission_for("fork", folder, asked.trust);
    ShownReplay replay("fork", folder, allowed.options(asked.trust));
    const TimeLimit limit(asked.trust.limits.options.timeout, [&replay] { replay->cancel(); });
    replay.show_up_to(*asked.step);
    KeyframePtr states;
    try {
      states = states_for_fork(*replay, *asked.step);
    } catch (const Error&) {
      if (limit.passed()) return kExitTimeout;
      throw;
    }
    replay.finish();
    request.script = asked.script.empty() ? replay->timeline().script_to_run() : asked.script;
    options = options_of_fork(replay->timeline(), states,
                              {.step = *asked.step,
                               .set = given.set,
                               .steps = given.steps,
                               .device = given.device,
                               .other_script = !asked.script.empty()});
    options.timeout = limit.left();
  }
  options.keyframes = given.keyframes;
  options.command_line = given.command_line;
  options.sandbox |= asked.trust.limits.options.sandbox;
  options.memory = asked.trust.limits.options.memory;
  options.disk = asked.trust.limits.options.disk;
  options.run_directory =
      given.run_directory.empty() ? default_run_directory(request.script) : given.run_directory;
  begin_fork(options);
  request.options = std::move(options);
  return run_and_wait(request);
}

}  // namespace

Action add_fork(Program& program) {
  const auto asked = std::make_shared<Fork>();
  RunRequest& request = asked->flags.request;
  CLI::App& command = add_command(program, "fork", "go on after a step of a run, in a new run, with changes");
  add_argument(command, "RUN", asked->folder, "a run's folder, or the beginning or end of its name");
  add_option(command, "--step", asked->step, "the step after which the new run goes on");
  add_list(command, "--set", asked->flags.set, "NAME=VALUE: another value of a parameter; may be repeated");
  add_option(command, "--script", asked->script, "another script, or a changed text of the run's", "FILE");
  add_option(command, "--steps", request.options.steps, "replaces the number of steps in lg.run.steps");
  add_option(command, "--device", request.options.device, "default device of tensors (default: the run's)");
  add_option(command, "--run-dir", request.options.run_directory,
             "folder for the new run's files (default runs/<time>-<script>-<id>)");
  add_size(command, "--keyframes", request.options.keyframes,
           "keep the states of some steps of the new run, within so many MiB or GiB");
  add_flag(command, "--json", request.json, "one JSON object per line on stdout, everything else on stderr");
  add_trust_flags(command, asked->trust);
  request.options.command_line = program.command_line;
  return [=] {
    std::string wrong = asked->flags.take_settings();
    if (wrong.empty() && !asked->step) wrong = "--step S says after which step the new run goes on";
    if (wrong.empty()) return carry_out("fork", [&] { return fork(*asked); });
    std::cerr << "lunagrad fork: " << wrong << "\n";
    return int(Outcome::usage);
  };
}

}  // namespace lunagrad
