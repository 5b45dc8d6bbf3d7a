#pragma once
// A call that waits in a queue, with the queue's handles and the fields of the context that it needs when it
// runs. A value of the queue's thread.
#include "runtime/core/op.h"

namespace lunagrad {

struct QueuedCall {
  Call call;
  Device* device = nullptr;  // also for a call without operands
  SourceLine line;
  const char* called = nullptr;  // the composed op that made it (runtime/core/called.h); null: none
  uint32_t module = 0;
  MatmulPrecision precision = MatmulPrecision::highest;
  uint64_t result = 0;  // id of the tensor that the caller got as the first result; 0: none
  struct {
    const Op* op = nullptr;  // null: none
    SourceLine line;
    uint64_t result = 0;
  } activation;           // a joined activation, whose own call is dropped (activations.h)
  bool backward = false;  // made by a backward pass
  bool in_place = false;  // writes into the memory of an operand
  bool fuses = false;     // may be a member of a group
};

// Whether an operand takes part in the plan: it is present and not a script's number, which is never written.
inline bool in_memory(const Tensor& x) { return x.defined() && !x.is_number(); }

}  // namespace lunagrad
