#include "gpu/early_pipelines.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "runtime/block_signals.h"

namespace lunagrad::gpu {

EarlyPipelines::EarlyPipelines(std::vector<PipelineKey> wanted, Make make) : make_(std::move(make)) {
  if (wanted.empty()) return;
  for (PipelineKey& key : wanted) entries_.push_back({std::move(key)});
  const BlockSignals blocked;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    entries_.clear();  // they are made when they are asked for
  }
}

EarlyPipelines::~EarlyPipelines() { stop(); }

void EarlyPipelines::work() {
  std::unique_lock lock(mutex_);
  for (Entry& entry : entries_) {
    if (ending_) return;
    if (entry.state != State::waiting) continue;
    entry.state = State::under_way;
    lock.unlock();
    VkPipeline made = VK_NULL_HANDLE;
    try {
      made = make_(entry.key);
    } catch (const std::exception&) {
      // Whoever asks for it meets the same.
    }
    lock.lock();
    entry.pipeline = made;
    entry.state = made ? State::ready : State::gone;
    changed_.notify_all();
  }
}

VkPipeline EarlyPipelines::take(const PipelineKey& key) {
  std::unique_lock lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return VK_NULL_HANDLE;
  changed_.wait(lock, [&] { return found->state != State::under_way; });
  found->state = State::gone;
  return std::exchange(found->pipeline, VkPipeline(VK_NULL_HANDLE));
}

void EarlyPipelines::finish() {
  std::unique_lock lock(mutex_);
  const auto open = [](const Entry& entry) {
    return entry.state == State::waiting || entry.state == State::under_way;
  };
  changed_.wait(lock, [&] { return std::none_of(entries_.begin(), entries_.end(), open); });
}

std::vector<VkPipeline> EarlyPipelines::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  std::vector<VkPipeline> left;
  for (Entry& entry : entries_) {
    entry.state = State::gone;
    if (entry.pipeline) left.push_back(std::exchange(entry.pipeline, VkPipeline(VK_NULL_HANDLE)));
  }
  return left;
}

}  // namespace lunagrad::gpu
