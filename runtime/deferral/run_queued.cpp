#include "runtime/deferral/run_queued.h"

#include "runtime/deferral/in_kernel.h"

namespace lunagrad {

constinit thread_local int kernels_running = 0;

AsCalled::AsCalled()
    : context_(context()),
      device_(context_.device),
      line_(context_.line),
      module_(context_.module),
      precision_(context_.matmul_precision),
      called_(called_op()) {}

AsCalled::~AsCalled() {
  context_.device = device_;
  context_.line = line_;
  context_.module = module_;
  context_.matmul_precision = precision_;
}

void run_alone(const QueuedCall& queued) {
  const Call& call = queued.call;
  for (const Tensor& x : call.in)
    if (in_memory(x)) x.storage().check_whole(call.op->name);
  try {
    const InKernel running;
    queued.device->run(call);
  } catch (...) {
    if (queued.in_place) {
      for (const Tensor& x : call.in)
        if (in_memory(x) && x.storage().last_writer == call.op->name)
          x.storage().mark_half_written(call.op->name);
    }
    throw;
  }
}

}  // namespace lunagrad
