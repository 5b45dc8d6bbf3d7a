#pragma once
// Lets a viewer use the engine on the session's thread without a trace in the run: restores the Context,
// random numbers included, when destroyed, and removes listeners until then. Made and destroyed on that
// thread.
#include "runtime/context.h"
#include "runtime/tape/autocast.h"

namespace lunagrad {

class Aside {
 public:
  Aside()
      : context_(context()),
        grad_enabled_(context_.grad_enabled),
        guard_(context_.guard),
        strict_device_(context_.strict_device),
        read_only_(context_.read_only),
        device_(context_.device),
        generator_(context_.generator),
        line_(context_.line),
        module_(context_.module),
        trace_(context_.trace),
        capture_(context_.capture),
        checkpoint_(context_.checkpoint),
        differentiating_(context_.differentiating),
        no_autocast_(nullptr) {
    context_.guard = Guard::off;
    context_.strict_device = false;
    context_.trace = nullptr;
    context_.capture = nullptr;
    context_.checkpoint = nullptr;
    context_.differentiating = nullptr;
    context_.read_only = false;  // it changes only tensors of its own
  }
  ~Aside() {
    context_.grad_enabled = grad_enabled_;
    context_.guard = guard_;
    context_.strict_device = strict_device_;
    context_.read_only = read_only_;
    context_.device = device_;
    context_.generator = generator_;
    context_.line = line_;
    context_.module = module_;
    context_.trace = trace_;
    context_.capture = capture_;
    context_.checkpoint = checkpoint_;
    context_.differentiating = differentiating_;
  }
  Aside(const Aside&) = delete;

 private:
  Context& context_;
  bool grad_enabled_;
  Guard guard_;
  bool strict_device_, read_only_;
  Device* device_;
  Generator generator_;
  SourceLine line_;
  uint32_t module_;
  Trace* trace_;
  Capture* capture_;
  CheckpointRegion* checkpoint_;
  const Node* differentiating_;
  UseAutocast no_autocast_;
};

}  // namespace lunagrad
