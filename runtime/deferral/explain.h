#pragma once
// The plan of what a queue computed, as text for a person. Pure.
#include <string>

#include "runtime/deferral/report.h"

namespace lunagrad {

// A summary, a table of groups (bytes that were not written to memory, how often, lines and ops), and tables
// of calls that were computed alone (bytes of their results), one for each reason. Most bytes come first;
// groups or calls that do the same at the same lines share a row.
std::string explain(const QueueReport&);

}  // namespace lunagrad
