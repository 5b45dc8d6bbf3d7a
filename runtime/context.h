#pragma once
// What an op needs to know beyond its operands: is a tape being kept, which device and generator are the
// default, which line of which script is running, who listens, and whether the user asked to stop. A Session
// owns one; thread_local holds only the pointer, so two sessions in one process do not see each other.
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/device.h"
#include "runtime/random.h"
#include "runtime/trace.h"

namespace lunagrad {

class Autocast;
class Capture;
class CheckpointRegion;
class Node;

// Where NaN and Inf are looked for (finite.h): nowhere, in the loss and the gradients of a step, in each op.
enum class Guard : uint8_t { off, step, op };

// How exactly f32 matrix products are computed: highest is f32 throughout; the others allow devices that have
// them shorter formats inside. The CPU computes all three in f32.
enum class MatmulPrecision : uint8_t { highest, high, medium };

struct Context {
  bool grad_enabled = true;
  Guard guard = Guard::off;
  bool strict_device = false;  // falling back to the CPU is an error
  bool read_only = false;      // an evaluation amid a backward pass: it may look, not change
  MatmulPrecision matmul_precision = MatmulPrecision::highest;
  Device* device = &cpu_device();  // where new tensors are made
  Generator generator;
  SourceLine line;      // of the script, set by whoever calls in
  uint32_t module = 0;  // interned path of the nn module being called
  Trace* trace = nullptr;
  Capture* capture = nullptr;              // sees each backward pass (tape.h)
  std::shared_ptr<Autocast> autocast;      // the region that operands are cast in (autocast.h)
  CheckpointRegion* checkpoint = nullptr;  // what is recorded belongs to it (checkpoint.h)
  const Node* differentiating = nullptr;   // the node whose gradient is being computed
  // Called between the nodes of a backward pass, where a session carries out its commands.
  void (*safe_point)(void* owner) = nullptr;
  void* owner = nullptr;
  // Set by any thread; kernels look at it between chunks and throw Error(cancelled).
  std::atomic<bool> stop_requested{false};

  void check_stop() const;                         // Error of kind cancelled when stop_requested
  void check_may_change(const char* what) const {  // Error when read_only
    if (read_only) [[unlikely]]
      refuse_change(what);
  }

 private:
  [[noreturn]] static void refuse_change(const char* what);
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
