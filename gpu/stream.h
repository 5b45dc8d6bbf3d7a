#pragma once
// The order of work on the device. Dispatches and copies are noted in an open batch, which is written into a
// command buffer and submitted when it holds enough, when more would keep the device for long, when the
// device would otherwise idle, or when the host wants a value. Only then do their pipelines have to be there,
// which are made meanwhile. Each submission signals the next value of one timeline semaphore. Large copies to
// memory that no unfinished work uses go beside it (uploads.h); the batch that uses what they write waits for
// them.
//
// Hazards. An epoch is what lies between two barriers. Each range knows the epoch of its last read and write;
// work that reads what was written in the current epoch, or writes what was read or written in it, gets one
// memory barrier in front, which begins the next epoch. Work without such a conflict may overlap.
//
// Not thread-safe: the device's lock guards it. All functions throw Error when Vulkan fails. A stream whose
// work was lost, with the device or since it could not be submitted, throws at once from then on: the device
// makes another.
#include <array>
#include <deque>
#include <memory>
#include <span>
#include <variant>

#include "gpu/memory.h"
#include "gpu/pipeline.h"
#include "gpu/timer.h"
#include "gpu/uploads.h"

namespace lunagrad::gpu {

using Bytes = std::span<const std::byte>;

// Memory that the host fills in order and the device gives back in order.
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
  void mark(uint64_t value);  // everything taken so far is in use until the timeline reaches value
  void give_back(uint64_t reached);
  VkBuffer buffer() const { return memory_.buffer; }
  VkDeviceSize size() const { return memory_.size; }

 private:
  struct Mark {
    uint64_t end;
    uint64_t value;
  };
  HostBuffer memory_;
  uint64_t head_ = 0;  // bytes ever taken, with what was skipped at the end of the buffer
  uint64_t tail_ = 0;  // bytes ever given back
  std::deque<Mark> marks_;
};

// How long a batch of more than one dispatch may take. Copies are left out: the rings bound them to a few ms.
inline constexpr double kLongestBatch = 50e6;  // ns

// What a kernel found; from index_select on, an index of the op of this name that is out of range.
enum class FaultKind : uint32_t {
  none,
  label,
  probability,
  weight,
  total_weight,
  few_weights,
  index_select,
  embedding,
  gather,
  scatter,
  scatter_add,
  index_add,
  index_copy,
  index_fill,
  one_hot
};

struct Groups {
  uint32_t x = 1, y = 1, z = 1;
};

class Stream {
 public:
  explicit Stream(VulkanContext&, VkPipelineLayout);
  ~Stream();
  Stream(const Stream&) = delete;

  // `arguments` are copied to the device; the shader's push constants are their address and then `hot`, at
  // most kHotBytes. `expected`: how many ns it may take.
  void dispatch(Pipeline&, Groups, Bytes arguments, Bytes hot, std::span<Range* const> reads,
                std::span<Range* const> writes, double expected);
  void copy_in(Range&, VkDeviceSize offset, const void* from, VkDeviceSize bytes);
  void copy_out(void* to, Range&, VkDeviceSize offset, VkDeviceSize bytes);  // waits
  void wait();                                                               // until all work is done
  bool lost() const { return lost_; }
  uint64_t submissions() const { return timeline_.submitted(); }  // so far
  // Waits for what was submitted, before everything is destroyed. False: the device does not answer, and what
  // it uses must be left to it.
  bool come_to_rest() noexcept;
  void listen(StreamListener* listener) { listener_ = listener; }

  // As WorkTimes.
  bool watch_work(bool on);
  std::vector<DeviceWork> take_work();

  // Where a kernel that meets an index out of range notes it: four words, the first a FaultKind, then the
  // position of the index, its value and the size it must be below. The next wait throws it as an Error. The
  // value of a probability or a weight is the bits of its float.
  VkDeviceAddress fault_address() const { return fault_.address; }

 private:
  struct Dispatch {
    Pipeline* pipeline;
    Groups groups;
    VkDeviceAddress arguments;
    std::array<std::byte, kHotBytes> hot;
    uint32_t hot_bytes;
  };
  struct Copy {
    VkBuffer from, to;
    VkBufferCopy region;
  };
  struct Command {
    bool behind_barrier;
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
  // The batch into the command buffer; `for_host`: and the host may read what it writes.
  void write(bool for_host);
  void submit(bool for_host = false);
  void finish();  // waits for all work; what went wrong in it is left to wait()
  void wait_for(uint64_t value);
  void await_uploads(std::span<Range* const> reads, std::span<Range* const> writes);
  void throw_fault();
  void collect();  // gives back what finished submissions held
  bool order(std::span<Range* const> reads, std::span<Range* const> writes);  // whether it takes a barrier
  template <class Work>                                                       // Dispatch or Copy
  void record(uint32_t kernel, const Work&, std::span<Range* const> reads, std::span<Range* const> writes);
  Ring::Piece take(Ring&, VkDeviceSize bytes);
  void check_alive() const;
  bool upload(Range&, VkDeviceSize offset, const void* from,
              VkDeviceSize bytes);  // false: not beside the work

  VulkanContext& context_;
  VkPipelineLayout layout_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;  // the open one, or null
  std::vector<Command> recorded_;              // to be written into the open one
  double expected_ = 0;                        // ns that their dispatches may take
  double looked_at_ = 0;                       // … when somebody looked last whether the device idles
  size_t small_batch_ = 0;                     // commands that make an idle device worth looking for
  Timer::Batch times_;                         // of the open one
  uint64_t epoch_ = 1;
  bool lost_ = false;
  Timeline timeline_;                // of the batches
  std::unique_ptr<Uploads> beside_;  // from the first large copy on
  uint64_t needed_ = 0;              // the uploads up to this one come before the work that is recorded next
  uint64_t awaited_ = 0;             // … and up to this one before what was submitted last
  StreamListener* listener_ = nullptr;
  std::deque<Submission> in_flight_;
  std::vector<VkCommandBuffer> idle_;
  Ring arguments_;
  Ring uploads_;
  HostBuffer downloads_;
  HostBuffer fault_;
  Timer timer_;
};

}  // namespace lunagrad::gpu
