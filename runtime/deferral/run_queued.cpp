#include "runtime/deferral/run_queued.h"

#include "runtime/deferral/groups.h"
#include "runtime/deferral/in_kernel.h"

namespace lunagrad {

constinit thread_local int kernels_running = 0;

AsCalled::AsCalled()
    : device_(context().device),
      line_(context().line),
      module_(context().module),
      precision_(context().matmul_precision) {}

AsCalled::~AsCalled() {
  context().device = device_;
  context().line = line_;
  context().module = module_;
  context().matmul_precision = precision_;
}

void AsCalled::become(const QueuedCall& queued) {
  context().device = queued.device;
  context().line = queued.line;
  context().module = queued.module;
  context().matmul_precision = queued.precision;
}

void run_alone(const QueuedCall& queued) {
  const Call& call = queued.call;
  for (const Tensor& x : call.in)
    if (in_memory(x)) x.storage().check_whole(call.op->name);
  try {
    const InKernel running;
    queued.device->run(call);
  } catch (...) {
    if (writes_in_place(call)) {
      for (const Tensor& x : call.in)
        if (in_memory(x) && x.storage().last_writer == call.op->name) x.storage().mark_torn(call.op->name);
    }
    throw;
  }
}

}  // namespace lunagrad
