#pragma once
// Makes Vulkan calls fail or wait, on all devices that are opened after watch_calls(). The functions may be
// called by any thread.
#include <cstdint>

namespace lunagrad::tests {

void watch_calls();  // to be called after an instance was created, before its device is opened

// Of the calls that can fail, the `at`-th from now on (1 is the next) fails: a call that creates an object
// runs out of memory, a call that submits or waits loses the device. 0: none.
void fail_call(uint64_t at);
// The same, for submissions only.
void fail_submission(uint64_t at);

bool call_failed();  // whether a call failed since fail_call() or fail_submission()
double seconds_since_failure();

// Every pipeline that is made while this is on fails.
void fail_pipelines(bool on);

// While on, threads that create a pipeline wait until it is off, at most 10 s.
void hold_pipelines(bool on);
bool held_too_long();

}  // namespace lunagrad::tests
