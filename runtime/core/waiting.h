#pragma once
// Tells the lowest layers that this thread has deferred calls (deferral/call_queue.h).

namespace lunagrad {

class CallQueue;

// The thread's queue that holds calls; null: none.
extern constinit thread_local CallQueue* waiting_queue;

// Computes the deferred calls. Throws the error of an op that fails.
void compute_waiting_calls();

}  // namespace lunagrad
