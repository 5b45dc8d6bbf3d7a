#pragma once
// When the commands of a stream ran, while somebody watches: a time stamp at the start of each batch and one
// behind each command, when it and all before it are done. So a command's time is what passed since the one
// before it ended, and commands that overlapped share their time in the order of their ends. Guarded by the
// device's lock.
#include <optional>
#include <vector>

#include "gpu/context.h"
#include "runtime/work_times.h"

namespace lunagrad::gpu {

class Timer {
 public:
  Timer(VulkanContext&, uint32_t most_commands);  // of a batch
  ~Timer();
  Timer(const Timer&) = delete;

  // From the next batch on. False: the device has no clock.
  bool watch(bool on);

  struct Batch {
    struct Command {
      uint64_t asked;   // when, in ticks
      uint32_t kernel;  // its name, interned
    };
    VkQueryPool stamps = VK_NULL_HANDLE;  // null: nobody watches
    std::vector<Command> commands;
  };
  Batch begin(VkCommandBuffer);
  void command(VkCommandBuffer, Batch&, Batch::Command);  // one was recorded
  void done(Batch&);                                      // the batch has run

  // Whether an empty batch, as the one that was done last, is needed to tell the device's clock from the
  // host's.
  bool needs_batch() const { return !context_.physical.calibrated; }
  // The device's clock stood within [before, after] of ticks() where the last batch began.
  void relate(uint64_t before, uint64_t after);
  std::vector<DeviceWork> take();  // what was done since

 private:
  struct Stamped {
    Batch::Command command;
    uint64_t begin, end;  // by the device's clock
  };
  struct Relation {
    uint64_t stamp, tick;
    uint64_t doubt;  // ticks
  };
  void ask_clock();
  uint64_t tick_of(uint64_t stamp) const;

  VulkanContext& context_;
  const uint32_t most_;
  bool on_ = false;
  std::vector<VkQueryPool> pools_, idle_;
  std::vector<Stamped> stamped_;
  uint64_t last_begin_ = 0;  // of a batch
  std::optional<Relation> relation_;
};

}  // namespace lunagrad::gpu
