#pragma once
// The plan of a computed queue, as text for a person. Pure.
#include <string>

#include "runtime/deferral/report.h"

namespace lunagrad {

// A summary, a table of groups (bytes that were not written to memory, count, lines and ops), and for each
// reason a table of the calls that were computed alone (bytes of their results). Most bytes come first; equal
// groups or calls at the same lines share a row.
std::string explain(const QueueReport&);

}  // namespace lunagrad
