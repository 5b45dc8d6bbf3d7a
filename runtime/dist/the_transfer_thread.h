#pragma once
// The transfer thread of this process, which world.cpp and lasting.cpp share. For the script's thread; once
// it exists, any thread may call the_transfer_thread().
#include "runtime/dist/transfer_thread.h"

namespace lunagrad::dist {

TransferThread* the_transfer_thread();  // null: no world was opened
void make_transfer_thread(TransferThreadOptions);
// In a lasting world: rank 0 orders a run, the other ranks join the ordered run.
void begin_lasting_run(double patience);

}  // namespace lunagrad::dist
