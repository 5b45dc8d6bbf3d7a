#pragma once
// What an op needs to know beyond its operands: whether the tape records, the default device and random
// generator, the running script line, the listeners, and whether the user asked to stop. A Session owns one
// Context. The thread_local variable is only a pointer to it, so two sessions in one process are independent.
// A context is used by one thread at a time; any thread may set stop_requested.
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/core/device.h"
#include "runtime/core/random.h"
#include "runtime/core/trace.h"

namespace lunagrad {

class Autocast;
class CallQueue;
class Capture;
class CheckpointRegion;
class Node;

// Where to search for NaN and Inf (tape/finite.h): nowhere, in the loss and the leaves' gradients of each
// backward pass, or in the result of each op.
enum class Guard : uint8_t { off, step, op };

// The precision of f32 matrix products: highest computes in f32; high and medium allow devices to multiply in
// shorter formats. The CPU computes all three in f32.
enum class MatmulPrecision : uint8_t { highest, high, medium };

// The fields that a piece of work may change for a while. RestoreContext copies all of them.
struct ContextState {
  bool grad_enabled = true;
  Guard guard = Guard::off;
  bool strict_device = false;  // falling back to the CPU is an error
  bool read_only = false;  // during an evaluation within a backward pass: tensors may be read, not changed
  MatmulPrecision matmul_precision = MatmulPrecision::highest;
  Device* device = &cpu_device();  // where new tensors are made
  Generator generator;
  SourceLine line;      // the script's current line; set by the bindings
  uint32_t module = 0;  // interned path of the nn module being called
  Trace* trace = nullptr;
  Capture* capture = nullptr;              // sees each backward pass (tape/backward.h)
  std::shared_ptr<Autocast> autocast;      // the region that casts operands; null: none (tape/autocast.h)
  CheckpointRegion* checkpoint = nullptr;  // the region that recorded nodes belong to (tape/node.h)
  const Node* differentiating = nullptr;   // the node whose gradient is being computed
  bool operator==(const ContextState&) const = default;
};

// The fields declared here are shared with other threads or belong to the owner. They are never copied.
struct Context : ContextState {
  // Called between the nodes of a backward pass; a session runs its commands there.
  void (*safe_point)(void* owner) = nullptr;
  void* owner = nullptr;
  // The queue of deferred calls; null: each call is eager (deferral/defer.h).
  CallQueue* queue = nullptr;
  // A graph is being captured: reading a value is an Error (deferral/recording.h).
  bool capturing = false;
  // Any thread may set it; kernels check it between chunks and throw Error(cancelled).
  std::atomic<bool> stop_requested{false};

  ContextState& state() { return *this; }

  void check_may_read() const {  // Error while a graph is captured
    if (capturing) [[unlikely]]
      refuse_reading();
  }
  void check_stop() const;                         // Error of kind cancelled when stop_requested
  void check_may_change(const char* what) const {  // Error when read_only
    if (read_only) [[unlikely]]
      refuse_change(what);
  }

 private:
  [[noreturn]] static void refuse_change(const char* what);
  [[noreturn]] static void refuse_reading();
};

// The calling thread's context; a thread that never set one has a default of its own.
Context& context();

// Makes a context current on this thread for the life of the object.
class UseContext {
 public:
  explicit UseContext(Context&);
  ~UseContext();
  UseContext(const UseContext&) = delete;

 private:
  Context* previous_;
};

// Makes a context current on this thread until another one is; null: the thread's own. For code that returns
// to a caller in between, where UseContext cannot live.
void set_context(Context*);

// Restores all fields of the thread's context state at the end of its life.
class RestoreContext {
 public:
  RestoreContext() : context_(context()), outer_(context_.state()) {}
  ~RestoreContext() { context_.state() = std::move(outer_); }
  RestoreContext(const RestoreContext&) = delete;

 private:
  Context& context_;
  ContextState outer_;
};

// Switches the tape on or off for the life of the object.
class GradMode {
 public:
  explicit GradMode(bool enabled) : previous_(context().grad_enabled) { context().grad_enabled = enabled; }
  ~GradMode() { context().grad_enabled = previous_; }
  GradMode(const GradMode&) = delete;

 private:
  bool previous_;
};
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

}  // namespace lunagrad
