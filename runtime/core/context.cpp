#include "runtime/core/context.h"

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

thread_local Context* current = nullptr;

Context& thread_default() {
  thread_local Context own;
  return own;
}

}  // namespace

Context& context() {
  if (!current) current = &thread_default();
  return *current;
}

void Context::check_stop() const {
  if (stop_requested.load(std::memory_order_relaxed)) fail_as(ErrorKind::cancelled, "interrupted");
}

void Context::refuse_change(const char* what) {
  fail(what,
       ": a backward pass is going on, or a probe is read; until it is through, an evaluation may look but "
       "not "
       "change");
}

void Context::refuse_reading() {
  fail(
      "compile: a captured function must not read a value, since its script does not run in every step; "
      "return "
      "the "
      "tensor, and read it outside");
}

UseContext::UseContext(Context& context) : previous_(current) { current = &context; }
UseContext::~UseContext() { current = previous_; }

void set_context(Context* context) { current = context; }

}  // namespace lunagrad
