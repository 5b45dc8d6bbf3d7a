#pragma once
// Runs calls later than they were made: with the context that they were made in.
#include "runtime/called.h"
#include "runtime/context.h"
#include "runtime/deferral/queued_call.h"

namespace lunagrad {

// The fields of the context that kernels and their errors read, put back at the end of its life.
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

// Runs one call that is no member of a group. Error of its op: what it writes in place is torn.
void run_alone(const QueuedCall&);

}  // namespace lunagrad
