#pragma once
// `lunagrad devices --ops`: the table of the ops that each device computes itself. It runs every op on small
// operands of each dtype.
#include <iosfwd>

namespace lunagrad {

// Prints the table to `out`, and the progress to standard error if that is a terminal. Runs on the calling
// thread, with its own context.
void print_device_ops(std::ostream& out);

}  // namespace lunagrad
