#pragma once
// The alarms as marks of the tape's nodes: a tint and a letter for each kind. Pure, except the colours of the
// kinds; any thread.
#include <memory>

#include "script/view/tape.h"
#include "ui/inspect/alarms.h"
#include "ui/tape/node_marks.h"

namespace lunagrad {

// Null: no node of the tape has an alarm.
std::shared_ptr<const NodeMarks> alarm_marks(const TapeSnapshot&, const Alarms&);

}  // namespace lunagrad
