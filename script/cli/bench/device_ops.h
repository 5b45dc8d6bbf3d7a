#pragma once
// `lunagrad devices --ops`: what each device computes itself, found by running every op on small operands of
// each type.
#include <iosfwd>

namespace lunagrad {

// The table on `out`, progress on a terminal's standard error. Runs on the calling thread with a context of
// its own.
void print_device_ops(std::ostream& out);

}  // namespace lunagrad
