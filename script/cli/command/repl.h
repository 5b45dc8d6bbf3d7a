#pragma once
// The interactive prompt: reads lines (with libedit on a terminal, plainly otherwise), evaluates them in a
// Session and shows their values. Throws nothing. Ctrl-C cancels an evaluation, Ctrl-D leaves.
#include "script/view/run.h"

namespace lunagrad {

// Returns the exit code: 0, or the argument of os.exit.
int run_repl(const RunOptions&);

}  // namespace lunagrad
