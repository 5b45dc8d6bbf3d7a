#pragma once
// Times of work outside the script's thread, for profiles: of the engine's helper threads (in the thread pool
// and in data loaders) and of asynchronous devices. Times are ticks(). Without a watch a helper checks one
// flag and a device records nothing.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/trace.h"

namespace lunagrad {

struct Context;

enum class Helper : uint8_t { pool, loader };

// A helper's share of one parallel loop, or one batch that it made for a data loader.
struct HelperWork {
  Helper helper;
  int index;  // the thread's number among the helpers of its kind, from 0
  uint64_t begin, end;
};

// Records the work of helpers for one context during the life of the object.
class HelperWatch {
 public:
  explicit HelperWatch(const Context&);
  ~HelperWatch();
  HelperWatch(const HelperWatch&) = delete;
  std::vector<HelperWork> take();  // ordered by `end`

 private:
  friend class HelperSpan;
  const Context& context_;
  std::vector<HelperWork> work_;
};

// Measures a helper's work, on the helper's thread: made at its begin, destroyed at its end. The context is
// only compared, so it may have been destroyed.
class HelperSpan {
 public:
  HelperSpan(const Context*, Helper, int index);
  ~HelperSpan();
  HelperSpan(const HelperSpan&) = delete;

 private:
  const Context* const context_;
  const Helper helper_;
  const int index_;
  const uint64_t begin_;  // 0: there is no watch
};

// A kernel or a copy on a device.
struct DeviceWork {
  uint64_t asked;  // when the call submitted it
  uint64_t begin, end;
  uint32_t kernel;  // its name, interned: "matmul f32 128x128x8", "copy to the host"
};

// How often a kernel was submitted since the device was opened, watched or not.
struct KernelUse {
  std::string name;
  uint64_t dispatches;
};

// The interface of a device that can measure its work. Implementations lock shared data.
class WorkTimes {
 public:
  virtual ~WorkTimes() = default;
  // Starts or stops recording. Waits until the device is idle. False: the device has no clock.
  virtual bool watch_work(bool on) = 0;
  // Waits for all work and returns its records in order of time. Errors of that work are reported by the next
  // wait.
  virtual std::vector<DeviceWork> take_work() = 0;
  virtual std::vector<KernelUse> kernels() const = 0;  // by name
};

}  // namespace lunagrad
