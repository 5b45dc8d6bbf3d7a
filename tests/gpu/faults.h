#pragma once
// Vulkan calls that fail, or wait, when a test wants it. Every device that is opened after watch_calls() goes
// through it.
#include <cstdint>

namespace lunagrad::tests {

void watch_calls();  // when an instance was made, and before its device is opened

// The `at`-th call from now on (1 is the next) that can fail does, as calls of its kind do: one that makes
// something for lack of memory, one that submits or waits by the loss of the device. 0: none.
void fail_call(uint64_t at);
// The same, counting submissions alone.
void fail_submission(uint64_t at);

bool call_failed();  // since fail_call() or fail_submission()
double seconds_since_failure();

// While on, no pipeline is made: who tries waits until it is off, or for too long, which is 10 s.
void hold_pipelines(bool on);
bool held_too_long();

}  // namespace lunagrad::tests
