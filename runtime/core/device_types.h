#pragma once
// Which dtypes a device can hold.
#include "runtime/core/device.h"
#include "runtime/core/dtype.h"
#include "runtime/core/error.h"

namespace lunagrad {

// Error unless `device` can hold tensors of `dtype`; this includes empty tensors. `op` begins the message.
inline void require_type_on(const Device& device, DType dtype, const char* op) {
  if (dtype == DType::c128 && !device.is_cpu())
    fail(op, ": c128 tensors live on the CPU alone (asked for ", device.name(),
         "); c64 goes to every device");
}

}  // namespace lunagrad
