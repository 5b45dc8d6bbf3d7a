#pragma once
// Marks calls that a kernel makes for itself: they run while another call of the thread runs.

namespace lunagrad {

extern constinit thread_local int kernels_running;

// Exists while a device runs a call.
struct InKernel {
  InKernel() { ++kernels_running; }
  ~InKernel() { --kernels_running; }
  InKernel(const InKernel&) = delete;
};

}  // namespace lunagrad
