#pragma once
// The commands of the program, in the order of its help; PARTS is the place of the commands of optional parts
// (script/cli/part_commands.h). A new command is a file NAME.cpp in this folder, or in script/cli/history/ if
// it works on run folders, that defines add_NAME(Program&), and a line here. The user types NAME with - for
// _. Help, the manual page and shell completions follow from the command's declaration.
#include "script/cli/base/flags.h"

// clang-format off
#define LUNAGRAD_COMMANDS(COMMAND, PARTS) \
  COMMAND(run)                     \
  COMMAND(repl)                    \
  COMMAND(test)                    \
  COMMAND(check)                   \
  COMMAND(doctor)                  \
  COMMAND(init)                    \
  COMMAND(runs)                    \
  COMMAND(tape)                    \
  PARTS                            \
  COMMAND(repro)                   \
  COMMAND(probe)                   \
  COMMAND(fork)                    \
  COMMAND(devices)                 \
  COMMAND(open)                    \
  COMMAND(meta)                    \
  COMMAND(bench)                   \
  COMMAND(convert)                 \
  COMMAND(compare)                 \
  COMMAND(compare_devices)         \
  COMMAND(info)                    \
  COMMAND(help)                    \
  COMMAND(version)                 \
  COMMAND(completion)              \
  COMMAND(man)
// clang-format on

namespace lunagrad {

// Each adds one command to the program and returns its action.
#define LUNAGRAD_DECLARE(name) Action add_##name(Program& program);
LUNAGRAD_COMMANDS(LUNAGRAD_DECLARE, )
#undef LUNAGRAD_DECLARE

}  // namespace lunagrad
