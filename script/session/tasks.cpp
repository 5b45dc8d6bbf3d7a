#include "script/session/tasks.h"

#include <utility>

#include "runtime/tape/autocast.h"

namespace lunagrad {

void Tasks::run_next() { run(control_.begin_task()); }

void Tasks::run_own(std::function<void()> task) {
  control_.begin_own_task();
  run(std::move(task));
}

void Tasks::run(std::function<void()> task) {
  viewers_.profile().leave();
  {
    const GradMode tape(true);
    const SourceLine line = context_.line;
    const uint32_t module = std::exchange(context_.module, 0);
    const UseAutocast no_autocast(nullptr);
    CheckpointRegion* const checkpoint = std::exchange(context_.checkpoint, nullptr);
    const Guard guard = std::exchange(context_.guard, Guard::off);
    // A task's own calls are not deferred: it reads its results now, not at the end of the script's step.
    CallQueue* const queue = std::exchange(context_.queue, nullptr);
    try {
      task();
    } catch (const std::exception& error) {
      events_.fail(error.what());
    }
    context_.line = line;
    context_.module = module;
    context_.checkpoint = checkpoint;
    context_.guard = guard;
    context_.queue = queue;
    task = nullptr;
  }
  viewers_.profile().come_back();
  control_.end_task();
  script_.stop_unwinding();
  if (const std::function<void()> call = std::exchange(after_task_, nullptr)) try {
      call();
    } catch (const std::exception& error) {
      events_.fail(error.what());
    }
}

}  // namespace lunagrad
