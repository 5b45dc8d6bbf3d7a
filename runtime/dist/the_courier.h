#pragma once
// The courier of this process, which world.cpp and lasting.cpp share. For the thread of the script, except
// that the_courier() may be called from any once it is there.
#include "runtime/dist/courier.h"

namespace lunagrad::dist {

Courier* the_courier();  // null: no world was opened
void make_courier(CourierOptions);
// In a world that lasts: rank 0 orders a run, the others join the one that was ordered.
void begin_lasting_run(double patience);

}  // namespace lunagrad::dist
