#pragma once
// When work was done beside the script's thread, for a profile: by the engine's helper threads (the pool's
// and a data loader's) and by devices that work on their own. Times are ticks(). While nobody watches, a
// helper looks at one flag and a device notes nothing.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace lunagrad {

struct Context;

enum class Helper : uint8_t { pool, loader };

// A thread's share of one loop, or one batch that it made.
struct HelperWork {
  Helper helper;
  int index;  // of the thread among those of its kind, from 0
  uint64_t begin, end;
};

// Notes what helpers do for a context, for the life of the object.
class HelperWatch {
 public:
  explicit HelperWatch(const Context&);
  ~HelperWatch();
  HelperWatch(const HelperWatch&) = delete;
  std::vector<HelperWork> take();  // by their ends

 private:
  friend class HelperSpan;
  const Context& context_;
  std::vector<HelperWork> work_;
};

// What a helper does while this lives. The context is only compared, and may be gone.
class HelperSpan {
 public:
  HelperSpan(const Context*, Helper, int index);
  ~HelperSpan();
  HelperSpan(const HelperSpan&) = delete;

 private:
  const Context* const context_;
  const Helper helper_;
  const int index_;
  const uint64_t begin_;  // 0: nobody watches
};

// A kernel or a copy on a device.
struct DeviceWork {
  uint64_t asked;  // when the call handed it over
  uint64_t begin, end;
  uint32_t kernel;  // its name, interned: "matmul f32 128x128x8", "copy to the host"
};

// How often a kernel was handed over since the device was opened, watched or not.
struct KernelUse {
  std::string name;
  uint64_t dispatches;
};

// The face of a device that can tell.
class WorkTimes {
 public:
  virtual ~WorkTimes() = default;
  // Begins and ends to note, with no work under way. False: the device has no clock.
  virtual bool watch_work(bool on) = 0;
  // Waits for all work; in order of time. Errors of that work are left to who waits next.
  virtual std::vector<DeviceWork> take_work() = 0;
  virtual std::vector<KernelUse> kernels() const = 0;  // by name
};

}  // namespace lunagrad
