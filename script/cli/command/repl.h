#pragma once
// The interactive prompt: reads lines (with libedit on a terminal, plainly otherwise), evaluates them in a
// Session and shows their values. Errors never leave it; Ctrl-C cancels an evaluation, Ctrl-D leaves.
#include "script/session.h"

namespace lunagrad {

// The exit code: 0, or what os.exit was given.
int run_repl(const RunOptions&);

}  // namespace lunagrad
