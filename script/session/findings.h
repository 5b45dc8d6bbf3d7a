#pragma once
// The events that tell what the watches of a run found. Pure; any thread.
#include "script/inspect/finite_sentry.h"
#include "script/leaks/growth_watch.h"
#include "script/run/run.h"
#include "script/time/probe_watch.h"

namespace lunagrad {

Event event_of(const FiniteSentry::Found&);
Event event_of(const GrowthWatch::Found&, const Run&);
Event event_of(const ProbeWatch::Reading&, const Run&);

}  // namespace lunagrad
