#include "gpu/vulkan/stream.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/trace.h"

namespace lunagrad::gpu {
namespace {

constexpr VkDeviceSize kArgumentBytes = 2 << 20;
constexpr VkDeviceSize kUploadBytes = 32 << 20;
constexpr VkDeviceSize kDownloadBytes = 8 << 20;
constexpr VkDeviceSize kLargeCopy = 1 << 20;  // a smaller copy is not worth a submission of its own
constexpr VkDeviceSize kPieceAlignment = 64;
constexpr size_t kFullBatch = 128;  // commands after which a batch is always submitted
// Number of commands, or their expected time, after which a batch is submitted if the device idles. The
// number of commands doubles with each such submission, so that a host that cannot keep the device busy does
// not submit all the time. A wait resets it.
constexpr size_t kSmallBatch = 16;
constexpr double kWorthSubmitting = 400e3;  // ns

}  // namespace

Ring::Ring(VulkanContext& context, VkDeviceSize bytes, HostUse use) : memory_(context, bytes, use) {}

Ring::Piece Ring::take(VkDeviceSize bytes) {
  const VkDeviceSize rounded = (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  uint64_t start = head_;
  if (start % memory_.size + rounded > memory_.size) start += memory_.size - start % memory_.size;
  if (start + rounded - tail_ > memory_.size) return {};
  head_ = start + rounded;
  const VkDeviceSize at = start % memory_.size;
  return {memory_.mapped + at, memory_.address + at, at};
}

void Ring::mark(uint64_t value) {
  if (marks_.empty() ? head_ > tail_ : head_ > marks_.back().end) marks_.push_back({head_, value});
}

void Ring::give_back(uint64_t reached) {
  while (!marks_.empty() && marks_.front().value <= reached) {
    tail_ = marks_.front().end;
    marks_.pop_front();
  }
}

Stream::Stream(VulkanContext& context, VkPipelineLayout layout)
    : context_(context),
      layout_(layout),
      timeline_(context, lost_),
      arguments_(context, kArgumentBytes, HostUse::arguments),
      uploads_(context, kUploadBytes, HostUse::upload),
      downloads_(context, kDownloadBytes, HostUse::download),
      faults_(context),
      timer_(context, kFullBatch) {
  small_batch_ = kSmallBatch;
  recorded_.reserve(kFullBatch);
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = context.physical.queue_family;
  check(context.vk.vkCreateCommandPool(context.device, &pool, nullptr, &pool_), "making a command pool");
}

Stream::~Stream() { context_.vk.vkDestroyCommandPool(context_.device, pool_, nullptr); }

bool Stream::come_to_rest() noexcept {
  return timeline_.come_to_rest() && (!concurrent_ || concurrent_->timeline().come_to_rest());
}

void Stream::check_alive() const {
  if (lost_)
    fail_as(ErrorKind::device, "vulkan: the device was lost, and with it the work and the tensors on it");
}

void Stream::open() {
  check_alive();
  if (commands_) return;
  VkCommandBuffer commands;
  if (idle_.empty()) {
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    check(context_.vk.vkAllocateCommandBuffers(context_.device, &info, &commands), "making a command buffer");
    idle_.push_back(commands);
  }
  commands = idle_.back();
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(context_.vk.vkBeginCommandBuffer(commands, &begin), "beginning a command buffer");
  idle_.pop_back();
  commands_ = commands;
  recorded_.clear();
  expected_ = looked_at_ = 0;
  times_ = timer_.begin(commands);
}

void Stream::write(bool for_host) {
  constexpr VkPipelineStageFlags kWorkStages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  const auto barrier = [&](VkAccessFlags access, VkPipelineStageFlags stages) {
    VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    all.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    all.dstAccessMask = access;
    context_.vk.vkCmdPipelineBarrier(commands_, kWorkStages, stages, 0, 1, &all, 0, nullptr, 0, nullptr);
  };
  VkPipeline bound = VK_NULL_HANDLE;
  for (const Command& command : recorded_) {
    if (command.after_barrier)
      barrier(VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                  VK_ACCESS_TRANSFER_WRITE_BIT,
              kWorkStages);
    if (const Dispatch* const dispatch = std::get_if<Dispatch>(&command.work)) {
      const VkPipeline pipeline = dispatch->pipeline->handle();
      if (bound != pipeline)
        context_.vk.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      bound = pipeline;
      static_assert(offsetof(Dispatch, push) == offsetof(Dispatch, arguments) + sizeof dispatch->arguments);
      context_.vk.vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     uint32_t(sizeof dispatch->arguments) + dispatch->hot_bytes,
                                     &dispatch->arguments);
      context_.vk.vkCmdDispatch(commands_, dispatch->groups.x, dispatch->groups.y, dispatch->groups.z);
    } else {
      const Copy& copy = std::get<Copy>(command.work);
      context_.vk.vkCmdCopyBuffer(commands_, copy.from, copy.to, 1, &copy.region);
    }
    timer_.command(commands_, times_, command.name);
  }
  if (for_host) barrier(VK_ACCESS_HOST_READ_BIT, VK_PIPELINE_STAGE_HOST_BIT);
}

void Stream::submit(bool for_host) {
  if (!commands_) return;
  // If a call below fails, the recorded work is lost.
  lost_ = true;
  write(for_host || faults_.concerns(timeline_.submitted() + 1));
  const VkCommandBuffer commands = std::exchange(commands_, VkCommandBuffer(VK_NULL_HANDLE));
  check(context_.vk.vkEndCommandBuffer(commands), "ending a command buffer");
  // Later batches run after this one, so they need not wait for these uploads again.
  std::vector<Timeline::Point> waits;
  const bool uploads = needed_ > awaited_;
  if (uploads) waits.push_back(concurrent_->timeline().at(needed_));
  waits.insert(waits.end(), host_points_.begin(), host_points_.end());
  timeline_.submit(context_.queue, commands, waits);
  host_points_.clear();
  lost_ = false;
  const uint64_t value = timeline_.submitted();
  if (listener_) listener_->submitted(value, uploads ? needed_ : 0);
  awaited_ = needed_;
  in_flight_.push_back({commands, value, std::exchange(times_, {})});
  arguments_.mark(value);
  uploads_.mark(value);
}

Timeline::Point Stream::submit_all() {
  check_alive();
  submit();
  return timeline_.at(timeline_.submitted());
}

void Stream::wait_for_host(Timeline::Point point) {
  submit_all();  // the recorded work need not wait
  host_points_.push_back(point);
}

void Stream::collect() {
  const uint64_t reached = timeline_.ask();
  while (!in_flight_.empty() && in_flight_.front().value <= reached) {
    timer_.done(in_flight_.front().times);
    idle_.push_back(in_flight_.front().commands);
    in_flight_.pop_front();
  }
  arguments_.give_back(reached);
  uploads_.give_back(reached);
  faults_.collect(reached);
}

void Stream::wait_for(uint64_t value) {
  timeline_.wait_for(value);
  collect();
}

void Stream::finish() {
  if (lost_) return;
  submit(true);
  small_batch_ = kSmallBatch;
  wait_for(timeline_.submitted());
  if (concurrent_) concurrent_->timeline().wait_for(concurrent_->timeline().submitted());
}

void Stream::wait() {
  if (lost_) return;
  finish();
  faults_.raise();
}

bool Stream::watch_work(bool on) {
  finish();
  return timer_.watch(on);
}

std::vector<DeviceWork> Stream::take_work() {
  finish();
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && timer_.needs_batch(); ++i) {
    const uint64_t before = ticks();
    open();
    finish();
    timer_.relate(before, ticks());
  }
  return timer_.take();
}

VkDeviceAddress Stream::fault_address() {
  if (faults_.full()) finish();
  return faults_.address();
}

Ring::Piece Stream::take(Ring& ring, VkDeviceSize bytes) {
  Ring::Piece piece = ring.take(bytes);
  if (piece.mapped) return piece;
  collect();
  piece = ring.take(bytes);
  if (!piece.mapped && !recorded_.empty()) submit();
  while (!piece.mapped && !in_flight_.empty()) {
    wait_for(in_flight_.front().value);
    piece = ring.take(bytes);
  }
  if (!piece.mapped)
    fail_as(ErrorKind::memory, "vulkan: ", bytes, " bytes of arguments do not fit the ring of ", ring.size());
  return piece;
}

bool Stream::order(std::span<Range* const> reads, std::span<Range* const> writes) {
  const bool conflict =
      std::any_of(reads.begin(), reads.end(), [&](Range* r) { return r->written_epoch == epoch_; }) ||
      std::any_of(writes.begin(), writes.end(),
                  [&](Range* r) { return r->written_epoch == epoch_ || r->read_epoch == epoch_; });
  if (conflict) {
    ++epoch_;
    if (listener_) listener_->barrier();
  }
  for (Range* r : reads) r->read_epoch = epoch_;
  for (Range* r : writes) r->written_epoch = epoch_;
  for (const auto& list : {reads, writes})
    for (Range* r : list) r->batch = timeline_.submitted() + 1;
  return conflict;
}

// To be called before the work takes a piece of a ring: submit() marks all pieces taken so far as used by the
// submitted batch.
void Stream::await_uploads(std::span<Range* const> reads, std::span<Range* const> writes) {
  uint64_t upload = 0;
  for (const auto& list : {reads, writes})
    for (const Range* r : list) upload = std::max(upload, r->upload);
  if (upload <= needed_) return;
  // Submit the recorded work: it need not wait for the upload.
  if (!recorded_.empty() && upload > concurrent_->timeline().ask()) submit();
  needed_ = upload;
}

template <class Work>
void Stream::record(uint32_t kernel, const Work& work, std::span<Range* const> reads,
                    std::span<Range* const> writes) {
  const auto note = [&] {
    open();
    const bool after_barrier = order(reads, writes);
    faults_.work(reads, writes, timeline_.submitted() + 1);
    recorded_.push_back({after_barrier, {times_.stamps ? ticks() : 0, kernel}, work});
  };
  if (listener_)
    listener_->work(reads, writes, note);
  else
    note();
}

void Stream::dispatch(Pipeline& pipeline, Groups groups, Bytes arguments, Bytes push,
                      std::span<Range* const> reads, std::span<Range* const> writes, double expected) {
  // Submit before a piece of the ring is taken, as in await_uploads().
  if (!recorded_.empty() && expected_ + expected > kLongestBatch) submit();
  await_uploads(reads, writes);
  Dispatch work{&pipeline, groups, 0, {}, uint32_t(push.size())};
  if (!arguments.empty()) {
    const Ring::Piece block = take(arguments_, arguments.size());
    std::memcpy(block.mapped, arguments.data(), arguments.size());
    work.arguments = block.address;
  }
  assert(push.size() <= kPushConstantBytes);
  std::copy(push.begin(), push.end(), work.push.begin());
  record(pipeline.name, work, reads, writes);
  expected_ += expected;
  submit_if_full();
}

void Stream::submit_if_full() {
  if (recorded_.size() >= kFullBatch) return submit();
  if (recorded_.empty()) return;
  if (recorded_.size() % small_batch_ != 0 && expected_ - looked_at_ < kWorthSubmitting) return;
  looked_at_ = expected_;
  collect();
  if (!in_flight_.empty()) return;
  // Do not submit yet if that would wait for a pipeline.
  const auto can_run = [](const Command& command) {
    const Dispatch* const dispatch = std::get_if<Dispatch>(&command.work);
    return !dispatch || dispatch->pipeline->made();
  };
  if (!std::all_of(recorded_.begin(), recorded_.end(), can_run)) return;
  small_batch_ = std::min(2 * small_batch_, kFullBatch);
  submit();
}

bool Stream::upload(Range& range, VkDeviceSize offset, const void* from, VkDeviceSize bytes) {
  if (!context_.upload_queue || bytes < kLargeCopy) return false;
  check_alive();
  // The recorded work runs while the host fills the staging memory.
  if (!recorded_.empty()) submit();
  collect();
  if (range.batch > timeline_.reached()) return false;
  if (!concurrent_) concurrent_ = std::make_unique<Uploads>(context_, lost_);
  concurrent_->copy(range, offset, from, bytes, timeline_.at(timeline_.reached()), listener_);
  return true;
}

void Stream::copy_in(Range& range, VkDeviceSize offset, const void* from, VkDeviceSize bytes) {
  if (upload(range, offset, from, bytes)) return;
  const std::byte* next = static_cast<const std::byte*>(from);
  Range* const writes[] = {&range};
  await_uploads({}, writes);
  static const uint32_t name = intern("copy to the device");
  while (bytes > 0) {
    const VkDeviceSize part = std::min(bytes, kUploadBytes / 4);
    const Ring::Piece piece = take(uploads_, part);
    std::memcpy(piece.mapped, next, part);
    record(name, Copy{uploads_.buffer(), range.block->buffer, {piece.offset, range.offset + offset, part}},
           {}, writes);
    submit_if_full();
    next += part;
    offset += part;
    bytes -= part;
  }
}

void Stream::copy_out(void* to, Range& range, VkDeviceSize offset, VkDeviceSize bytes) {
  std::byte* next = static_cast<std::byte*>(to);
  Range* const reads[] = {&range};
  await_uploads(reads, {});
  static const uint32_t name = intern("copy to the host");
  while (bytes > 0) {
    const VkDeviceSize part = std::min(bytes, kDownloadBytes);
    record(name, Copy{range.block->buffer, downloads_.buffer, {range.offset + offset, 0, part}}, reads, {});
    wait();
    std::memcpy(next, downloads_.mapped, part);
    next += part;
    offset += part;
    bytes -= part;
  }
}

uint64_t Stream::begin_copy_out(HostBuffer& to, Range& range, VkDeviceSize offset, VkDeviceSize bytes) {
  Range* const reads[] = {&range};
  await_uploads(reads, {});
  static const uint32_t name = intern("copy to the host");
  record(name, Copy{range.block->buffer, to.buffer, {range.offset + offset, 0, bytes}}, reads, {});
  submit(true);
  return timeline_.submitted();
}

uint64_t Stream::begin_copy_in(Range& range, VkDeviceSize offset, HostBuffer& from, VkDeviceSize bytes) {
  Range* const writes[] = {&range};
  await_uploads({}, writes);
  static const uint32_t name = intern("copy to the device");
  record(name, Copy{from.buffer, range.block->buffer, {0, range.offset + offset, bytes}}, {}, writes);
  const uint64_t value = timeline_.submitted() + 1;
  submit_if_full();
  return value;
}

}  // namespace lunagrad::gpu
