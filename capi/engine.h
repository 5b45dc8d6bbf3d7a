#pragma once
// An engine of the C library: the context of its operations, its limit and log, and the handles of its
// tensors and texts. Owned by its handle; lg_engine_close() deletes it. For the thread that opened it, except
// for stop_requested of the context.
#include <memory>
#include <mutex>
#include <set>

#include "capi/handles.h"
#include "runtime/core/context.h"
#include "runtime/core/memory_limit.h"
#include "runtime/core/op.h"

namespace lunagrad::capi {

// Tells the host's log which operations run on the CPU because their device has no kernel, each once.
class Log final : public Trace {
 public:
  Log(lg_log function, void* user) : function_(function), user_(user) {}
  void ran(const Call&, uint64_t) override {}
  void fell_back(const Call&, const char* reason) override;
  bool sees_calls() const override { return false; }

 private:
  lg_log function_;
  void* user_;
  std::set<const Op*> told_;
};

struct Engine {
  Engine() : own(std::make_unique<Context>()), context(*own), slots(this) {}
  // The engine of a session, while a function of the host runs on the session's thread: it has the session's
  // context, and is current already.
  explicit Engine(Context& of_session) : context(of_session), slots(this), limit(memory_limit()) {}
  ~Engine();
  Engine(const Engine&) = delete;
  bool of_session() const { return !own; }

  const std::unique_ptr<Context> own;  // null: it is a session's
  Context& context;
  Slots slots;
  bool busy = false;  // a function of the library runs, maybe a callback in it
  MemoryLimit limit;
  std::unique_ptr<Log> log;
};

// The engine whose context and limit this thread has; null: none.
extern constinit thread_local Engine* active;
void activate(Engine*);  // null: none
// Held while a handle of an engine or a session ends, and while another thread uses one.
std::mutex& ending_mutex();

// While it lives, an engine is busy: a callback gets LG_BUSY.
class Busy {
 public:
  explicit Busy(Engine& engine) : engine_(engine) {
    if (engine.busy) [[unlikely]]
      refuse(LG_BUSY, "a callback of the engine is running");
    engine.busy = true;
  }
  ~Busy() { engine_.busy = false; }
  Busy(const Busy&) = delete;

 private:
  Engine& engine_;
};

// While it lives, a function of the library works for an engine, whose context and limit the thread has. They
// stay the thread's afterwards, unless another engine's callback has called.
class Work {
 public:
  explicit Work(Engine& engine) : busy_(engine), previous_(active) {
    if (previous_ != &engine) [[unlikely]]
      activate(&engine);
  }
  ~Work() {
    if (previous_ != active && previous_ && previous_->busy) [[unlikely]]
      activate(previous_);
  }
  Work(const Work&) = delete;

 private:
  Busy busy_;
  Engine* previous_;
};

inline Engine& engine_of(const void* handle) { return *slot_of(handle, Kind::engine).engine; }
// The same for functions that a session's engine does not have.
Engine& own_engine_of(const lg_engine* handle);
// The tensor of a handle, whose engine is `engine`.
inline const Tensor& tensor_of(const lg_tensor* handle, const Engine& engine) {
  const HandleSlot& slot = slot_of(handle, Kind::tensor);
  if (slot.engine != &engine) [[unlikely]]
    refuse(LG_INVALID_HANDLE, "the tensor belongs to another engine");
  return slot.tensor;
}
// A new handle. bad_alloc when there is no room.
inline lg_tensor* new_handle(Engine& engine, Tensor tensor) {
  engine.slots.reserve(1);
  return engine.slots.add(std::move(tensor));
}
lg_text* new_text(Engine& engine, std::string bytes);

// The device of a name; the engine's device for null. Error of kind device.
Device& device_of(const char* name);
// The text, which lives as long as the process and ends with a zero byte.
const char* lasting(std::string_view text);

}  // namespace lunagrad::capi
