#pragma once
// Runs deferred calls with the context in which they were made.
#include "runtime/core/called.h"
#include "runtime/core/context.h"
#include "runtime/deferral/queued_call.h"

namespace lunagrad {

// Sets the fields of the context that kernels and their errors read; restores them at the end of its life.
class AsCalled {
 public:
  AsCalled();
  ~AsCalled();
  AsCalled(const AsCalled&) = delete;
  void become(const QueuedCall& queued) {
    context_.device = queued.device;
    context_.line = queued.line;
    context_.module = queued.module;
    context_.matmul_precision = queued.precision;
    called_.become(queued.called);
  }

 private:
  Context& context_;
  Device* device_;
  SourceLine line_;
  uint32_t module_;
  MatmulPrecision precision_;
  Called called_;
};

// Runs one call that is not a member of a group. Throws the op's error; then the tensors that it writes in
// place are half-written.
void run_alone(const QueuedCall&);

}  // namespace lunagrad
