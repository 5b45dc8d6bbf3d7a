#pragma once
// The order of work on the device. Dispatches and copies are collected in an open batch. The batch is
// recorded into a command buffer and submitted when it is full, when more work would occupy the device for
// long, when the device would otherwise idle, or when the host needs a value. Its pipelines are created in
// the background and must exist only at submission. Each submission signals the next value of one timeline
// semaphore. Large copies to memory that no unfinished work uses run on a queue of their own (uploads.h); a
// batch that uses the copied data waits for them.
//
// Hazards. An epoch is the work between two barriers. Each range stores the epochs of its last read and
// write. A memory barrier precedes work that reads a range written in the current epoch, or writes a range
// read or written in it. The barrier begins the next epoch. Work without such a conflict may overlap.
//
// Not thread-safe: the device's lock guards it. Functions throw Error when Vulkan fails. After work was lost,
// because the device was lost or a submission failed, all functions throw: the device creates a new stream.
#include <array>
#include <deque>
#include <memory>
#include <span>
#include <variant>

#include "gpu/vulkan/faults.h"
#include "gpu/vulkan/memory.h"
#include "gpu/vulkan/pipeline.h"
#include "gpu/vulkan/timer.h"
#include "gpu/vulkan/uploads.h"

namespace lunagrad::gpu {

using Bytes = std::span<const std::byte>;

// A ring buffer. The host fills it in order and the device releases it in order.
class Ring {
 public:
  Ring(VulkanContext&, VkDeviceSize bytes, HostUse);
  Ring(const Ring&) = delete;

  struct Piece {
    std::byte* mapped = nullptr;  // null: the ring is full
    VkDeviceAddress address = 0;
    VkDeviceSize offset = 0;
  };
  Piece take(VkDeviceSize bytes);
  void mark(uint64_t value);  // all pieces taken so far are in use until the timeline reaches `value`
  void give_back(uint64_t reached);
  VkBuffer buffer() const { return memory_.buffer; }
  VkDeviceSize size() const { return memory_.size; }

 private:
  struct Mark {
    uint64_t end;
    uint64_t value;
  };
  HostBuffer memory_;
  uint64_t head_ = 0;  // bytes taken so far, including bytes skipped at the end of the buffer
  uint64_t tail_ = 0;  // bytes released so far
  std::deque<Mark> marks_;
};

// The longest expected time of a batch of more than one dispatch. It keeps the host from waiting for long,
// and a driver's watchdog from resetting the device. Copies do not count: the rings limit them to a few ms.
inline constexpr double kLongestBatch = 50e6;  // ns

struct Groups {
  uint32_t x = 1, y = 1, z = 1;
};

class Stream {
 public:
  explicit Stream(VulkanContext&, VkPipelineLayout);
  ~Stream();
  Stream(const Stream&) = delete;

  // Records a dispatch. `arguments` are copied to the device. The push constants are the address of that
  // copy, then `push` (at most kPushConstantBytes). `expected` is the expected time in ns.
  void dispatch(Pipeline&, Groups, Bytes arguments, Bytes push, std::span<Range* const> reads,
                std::span<Range* const> writes, double expected);
  void copy_in(Range&, VkDeviceSize offset, const void* from, VkDeviceSize bytes);
  void copy_out(void* to, Range&, VkDeviceSize offset, VkDeviceSize bytes);  // waits for the copy
  // Copy between a range and mapped memory without waiting. They return the value of timeline() at which the
  // copy is done. begin_copy_out() submits at once.
  uint64_t begin_copy_out(HostBuffer& to, Range&, VkDeviceSize offset, VkDeviceSize bytes);
  uint64_t begin_copy_in(Range&, VkDeviceSize offset, HostBuffer& from, VkDeviceSize bytes);
  Timeline& timeline() { return timeline_; }
  // Submits what was recorded. Returns when it will be done.
  Timeline::Point submit_all();
  // Work from now on waits for a point of the program's, which is already submitted.
  void wait_for_host(Timeline::Point);
  // Waits for all work. Throws the first fault that a kernel found, if any.
  void wait();
  void finish();  // waits for all work, without throwing faults of kernels
  bool lost() const { return lost_; }
  uint64_t submissions() const { return timeline_.submitted(); }  // so far
  // Waits for all submissions, before destruction. False: the device does not answer and may still use the
  // stream's memory, which must then be leaked.
  bool come_to_rest() noexcept;
  void listen(StreamListener* listener) { listener_ = listener; }

  // See WorkTimes.
  bool watch_work(bool on);
  std::vector<DeviceWork> take_work();

  // Where the kernels of the current call write a fault (faults.h). The next wait() throws it as an Error.
  VkDeviceAddress fault_address();
  Faults& faults() { return faults_; }

 private:
  struct Dispatch {
    Pipeline* pipeline;
    Groups groups;
    VkDeviceAddress arguments;
    std::array<std::byte, kPushConstantBytes> push;
    uint32_t hot_bytes;
  };
  struct Copy {
    VkBuffer from, to;
    VkBufferCopy region;
  };
  struct Command {
    bool after_barrier;
    Timer::Batch::Command name;
    std::variant<Dispatch, Copy> work;
  };
  struct Submission {
    VkCommandBuffer commands;
    uint64_t value;
    Timer::Batch times;
  };
  void open();
  void submit_if_full();
  // Records the batch into the command buffer. `for_host`: the host will read the results.
  void write(bool for_host);
  void submit(bool for_host = false);
  void wait_for(uint64_t value);
  void await_uploads(std::span<Range* const> reads, std::span<Range* const> writes);
  void collect();  // releases the resources of finished submissions
  // Updates the epochs of the ranges. True: the work needs a barrier before it.
  bool order(std::span<Range* const> reads, std::span<Range* const> writes);
  template <class Work>  // Dispatch or Copy
  void record(uint32_t kernel, const Work&, std::span<Range* const> reads, std::span<Range* const> writes);
  Ring::Piece take(Ring&, VkDeviceSize bytes);
  void check_alive() const;
  // Copies on the upload queue. Returns false if that is not possible for this copy.
  bool upload(Range&, VkDeviceSize offset, const void* from, VkDeviceSize bytes);

  VulkanContext& context_;
  VkPipelineLayout layout_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;  // the open batch's buffer, or null
  std::vector<Command> recorded_;              // commands of the open batch
  double expected_ = 0;                        // expected ns of the open batch's dispatches
  double looked_at_ = 0;                       // expected_ when it was last checked whether the device idles
  size_t small_batch_ = 0;                     // commands between two such checks
  Timer::Batch times_;                         // times of the open batch
  uint64_t epoch_ = 1;
  bool lost_ = false;
  Timeline timeline_;                         // counts the batches
  std::unique_ptr<Uploads> concurrent_;       // created by the first large copy
  uint64_t needed_ = 0;                       // the open batch must wait for the uploads up to this value
  std::vector<Timeline::Point> host_points_;  // the open batch must wait for them
  uint64_t awaited_ = 0;                      // the last submission waited for the uploads up to this value
  StreamListener* listener_ = nullptr;
  std::deque<Submission> in_flight_;
  std::vector<VkCommandBuffer> idle_;
  Ring arguments_;
  Ring uploads_;
  HostBuffer downloads_;
  Faults faults_;
  Timer timer_;
};

}  // namespace lunagrad::gpu
