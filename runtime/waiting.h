#pragma once
// Tells the lowest layers that calls of this thread were put off (deferral/call_queue.h).

namespace lunagrad {

class CallQueue;

// The thread's queue that holds calls; null: none.
extern constinit thread_local CallQueue* waiting_queue;

// Computes it. Error of an op that was put off.
void compute_waiting_calls();

}  // namespace lunagrad
