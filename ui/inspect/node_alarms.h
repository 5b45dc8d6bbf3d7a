#pragma once
// Which nodes of a tape an alarm is about. Pure; any thread.
#include <vector>

#include "script/view/tape.h"
#include "ui/inspect/alarms.h"

namespace lunagrad {

// For each node of the tape the index of its most severe alarm in alarm_rules(), -1: none. Alarms count that
// held in the tape's step. Nodes with values or gradients that are not finite count as NaN.
std::vector<int> node_alarms(const TapeSnapshot&, const Alarms&);

}  // namespace lunagrad
