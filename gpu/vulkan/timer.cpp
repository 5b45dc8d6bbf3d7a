#include "gpu/vulkan/timer.h"

#include <algorithm>
#include <utility>

namespace lunagrad::gpu {

Timer::Timer(VulkanContext& context, uint32_t most_commands) : context_(context), most_(most_commands + 1) {}

Timer::~Timer() {
  for (const VkQueryPool pool : pools_) context_.vk.vkDestroyQueryPool(context_.device, pool, nullptr);
}

bool Timer::watch(bool on) {
  on_ = on && context_.physical.stamp_bits > 0;
  return on_ == on;
}

Timer::Batch Timer::begin(VkCommandBuffer commands) {
  Batch batch;
  if (!on_) return batch;
  if (idle_.empty()) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = most_;
    VkQueryPool made;
    check(context_.vk.vkCreateQueryPool(context_.device, &info, nullptr, &made), "making time stamps");
    pools_.push_back(made);
    idle_.push_back(made);
  }
  batch.stamps = idle_.back();
  idle_.pop_back();
  context_.vk.vkCmdResetQueryPool(commands, batch.stamps, 0, most_);
  context_.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch.stamps, 0);
  return batch;
}

void Timer::command(VkCommandBuffer commands, Batch& batch, Batch::Command command) {
  if (!batch.stamps) return;
  batch.commands.push_back(command);
  context_.vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch.stamps,
                                  uint32_t(batch.commands.size()));
}

void Timer::done(Batch& batch) {
  if (!batch.stamps) return;
  std::vector<uint64_t> stamps(batch.commands.size() + 1);
  check(context_.vk.vkGetQueryPoolResults(context_.device, batch.stamps, 0, uint32_t(stamps.size()),
                                          stamps.size() * sizeof(uint64_t), stamps.data(), sizeof(uint64_t),
                                          VK_QUERY_RESULT_64_BIT),
        "reading time stamps");
  for (size_t i = 0; i < batch.commands.size(); ++i)
    stamped_.push_back({batch.commands[i], stamps[i], stamps[i + 1]});
  last_begin_ = stamps[0];
  idle_.push_back(std::exchange(batch.stamps, VkQueryPool(VK_NULL_HANDLE)));
}

void Timer::relate(uint64_t before, uint64_t after) {
  if (!relation_ || after - before < relation_->doubt)
    relation_ = Relation{last_begin_, before + (after - before) / 2, after - before};
}

void Timer::ask_clock() {
  VkCalibratedTimestampInfoEXT info{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT};
  info.timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
  for (int i = 0; i < 4; ++i) {
    uint64_t deviation = 0;
    const uint64_t before = ticks();
    check(context_.vk.vkGetCalibratedTimestampsEXT(context_.device, 1, &info, &last_begin_, &deviation),
          "asking for the device's time");
    relate(before, ticks());
  }
}

uint64_t Timer::tick_of(uint64_t stamp) const {
  // Timestamps of fewer than 64 bits wrap around, but the differences are short.
  const int unused = 64 - int(context_.physical.stamp_bits);
  const int64_t passed = int64_t((stamp - relation_->stamp) << unused) >> unused;
  constexpr uint64_t kMany = 1u << 30;
  const double ns_per_tick = ticks_to_ns(kMany) / double(kMany);
  return relation_->tick +
         uint64_t(int64_t(double(passed) * double(context_.physical.limits.timestampPeriod) / ns_per_tick));
}

std::vector<DeviceWork> Timer::take() {
  if (!needs_batch()) ask_clock();
  std::vector<DeviceWork> work;
  work.reserve(stamped_.size());
  for (const Stamped& one : std::exchange(stamped_, {}))
    work.push_back({one.command.asked, tick_of(one.begin), tick_of(one.end), one.command.kernel});
  relation_.reset();  // clocks drift
  return work;
}

}  // namespace lunagrad::gpu
