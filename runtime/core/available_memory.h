#pragma once
// The memory that the operating system can still give to this process.
#include <cstddef>

namespace lunagrad {

// Bytes that this process can still use without swapping: the machine's MemAvailable, or less when a control
// group sets a limit. SIZE_MAX where the system does not say. Reads files of the system; any thread.
size_t available_memory();

}  // namespace lunagrad
