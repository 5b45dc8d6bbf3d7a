#pragma once
// Calls that a device has no kernel for. For the tensors' thread.
#include "runtime/core/op.h"

namespace lunagrad {

// Copies the operands to the CPU, runs the op there, and copies the results into the call's outputs, which
// have memory on the device. Reports it to the trace. Error under --strict-device.
void run_on_cpu_instead(Call&, Device&);

}  // namespace lunagrad
