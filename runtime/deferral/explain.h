#pragma once
// The plan of what a queue computed, as text for a person. Pure.
#include <string>

#include "runtime/deferral/call_queue.h"

namespace lunagrad {

// A summary line, then a line for each group (its ops, lines of the script, bytes that were not written to
// memory) and for each elementwise call that was computed alone (why).
std::string explain(const QueueReport&);

}  // namespace lunagrad
