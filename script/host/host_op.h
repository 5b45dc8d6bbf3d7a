#pragma once
// An op of the program around the session: its record is checked when it is added, and its functions are
// called behind the wall of host_calls.h. For any thread; the functions of the record run on the session's.
#include <memory>
#include <string>

#include "runtime/core/op.h"

namespace lunagrad {

struct HostOp : Op {
  const Op* given = nullptr;
};

// Why scripts cannot call the record; "" when they can.
std::string fault_of(const Op&);
// The record that scripts run in place of one without faults.
std::unique_ptr<const HostOp> host_op(const Op& given);

}  // namespace lunagrad
