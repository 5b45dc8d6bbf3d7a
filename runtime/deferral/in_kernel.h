#pragma once
// Tells which calls a kernel makes for itself: those that run while another call of the thread runs.

namespace lunagrad {

extern constinit thread_local int kernels_running;

// For the time that a device runs a call.
struct InKernel {
  InKernel() { ++kernels_running; }
  ~InKernel() { --kernels_running; }
  InKernel(const InKernel&) = delete;
};

}  // namespace lunagrad
