#pragma once
// Measures the commands of a stream while it is watched: a timestamp at the start of each batch and one after
// each command, written when that command and all earlier ones are done. The time of a command is the
// difference to the previous timestamp; commands that overlap share their time in the order in which they
// end. Guarded by the device's lock.
#include <optional>
#include <vector>

#include "gpu/vulkan/context.h"
#include "runtime/core/work_times.h"

namespace lunagrad::gpu {

class Timer {
 public:
  Timer(VulkanContext&, uint32_t most_commands);  // the most commands of a batch
  ~Timer();
  Timer(const Timer&) = delete;

  // Takes effect with the next batch. False: the device has no timestamps.
  bool watch(bool on);

  struct Batch {
    struct Command {
      uint64_t asked;   // when the command was recorded, in ticks()
      uint32_t kernel;  // the kernel's interned name
    };
    VkQueryPool stamps = VK_NULL_HANDLE;  // null: not watched
    std::vector<Command> commands;
  };
  Batch begin(VkCommandBuffer);
  void command(VkCommandBuffer, Batch&, Batch::Command);  // to be called after recording a command
  void done(Batch&);                                      // to be called when the batch has finished

  // Whether the relation between the clocks of device and host must be found with an empty batch, since the
  // device's clock cannot be read directly (VK_EXT_calibrated_timestamps).
  bool needs_batch() const { return !context_.physical.calibrated; }
  // Notes that the last batch began within [before, after] of ticks().
  void relate(uint64_t before, uint64_t after);
  std::vector<DeviceWork> take();  // the commands that finished since the last call

 private:
  struct Stamped {
    Batch::Command command;
    uint64_t begin, end;  // timestamps
  };
  struct Relation {
    uint64_t stamp, tick;
    uint64_t doubt;  // uncertainty in ticks
  };
  void ask_clock();
  uint64_t tick_of(uint64_t stamp) const;

  VulkanContext& context_;
  const uint32_t most_;
  bool on_ = false;
  std::vector<VkQueryPool> pools_, idle_;
  std::vector<Stamped> stamped_;
  uint64_t last_begin_ = 0;  // the first timestamp of the last batch
  std::optional<Relation> relation_;
};

}  // namespace lunagrad::gpu
