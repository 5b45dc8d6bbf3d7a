// `lunagrad run`: runs a script and returns its exit code.
#include <iostream>
#include <memory>

#include "runtime/core/error.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/ranks.h"
#include "script/cli/base/run_flags.h"
#include "script/cli/command/all.h"
#include "script/launch_ranks.h"

namespace lunagrad {

Action add_run(Program& program) {
  const auto flags = std::make_shared<RunFlags>();
  CLI::App& command = add_command(program, "run", "run a script: SCRIPT [flags] [-- ARGS]");
  add_argument(command, "script", flags->request.script, "a Lua file");
  add_arguments(command, "arguments", flags->request.options.arguments, "given to the script, after --");
  add_flag(command, "--watch", flags->request.watch,
           "reload the script when it, or a module that it requires, changes");
  add_run_flags(command, *flags);
  const auto ranks = std::make_shared<std::optional<int64_t>>();
  add_option(command, "--ranks", *ranks,
             "run the script in so many processes, which mpirun starts: lunagrad help data-parallel");
  flags->request.options.command_line = program.command_line;
  return [=] {
    std::string wrong;
    if (flags->request.script.empty())  // for example from an unset "$SCRIPT"
      wrong = "the script's name is empty";
    else
      wrong = flags->take_settings();
    if (*ranks && (**ranks < 1 || **ranks > kMostRanks))
      wrong = text("--ranks ", **ranks, ": 1 to ", kMostRanks, " expected");
    else if (*ranks && flags->request.watch)
      wrong = "--watch reloads one process; leave out --ranks";
    if (wrong.empty() && ranks->value_or(1) > 1)
      return carry_out("run", [&] { return start_ranks(**ranks); });
    if (wrong.empty()) {
      take_rank(flags->request);
      return run_and_wait(flags->request);
    }
    std::cerr << "lunagrad run: " << wrong << "\n";
    return int(Outcome::usage);
  };
}

}  // namespace lunagrad
