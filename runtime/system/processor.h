#pragma once
// The processor, as the system lets this process use it. Any thread.

namespace lunagrad {

int machine_cores();  // all cores that are online
// The cores that this process may use: its affinity, and the limits of its control groups in whole cores. At
// least 1.
int usable_cores();
// Asks for the tile registers of AMX, which Linux saves only for processes that ask. Returns false when this
// process must not use them.
bool allow_tile_registers();

}  // namespace lunagrad
