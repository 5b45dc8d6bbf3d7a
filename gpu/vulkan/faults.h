#pragma once
// Errors that kernels find in the values that they read: an index out of range, a singular matrix. A kernel
// cannot stop the script, so it writes the fault into a record, which is checked when the batch has finished.
// Each call that may find a fault has a record of its own with its op and script line. While records are
// open, all recorded work is remembered: this finds the tensors that were computed from a faulty call. Their
// ranges are marked (Range::spoiled), and any use of them is an error. Memory reports freed ranges. Not
// thread-safe: the device's lock guards it.
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/vulkan/memory.h"
#include "runtime/core/error.h"
#include "runtime/core/trace.h"

namespace lunagrad::gpu {

// From index_select to scatter_reduce, each kind means: an index of the op of that name is out of range.
enum class FaultKind : uint32_t {
  none,
  label,
  probability,
  weight,
  total_weight,
  few_weights,
  division,
  rate,
  pivot,     // of lu_unpack
  singular,  // this and the next four: faults in a batch of matrices (note_matrix() of
             // gpu/ops/glsl/fault.glsl)
  minor,     // of a Cholesky factorization
  not_finite,
  eigenvalues,
  singular_values,
  index_select,
  embedding,
  gather,
  scatter,
  scatter_add,
  index_add,
  index_copy,
  index_fill,
  one_hot,
  scatter_reduce,
  // The following are described one by one again.
  index,  // this and the next: position counts the dim
  index_put,
  length,   // a negative length of a segment
  lengths,  // their sum; position counts the dim
  offsets   // of the bags of embedding_bag
};

// A fault of an earlier call, thrown by a later call that waits for the device.
class FoundLater : public Error {
 public:
  using Error::Error;
};

class Faults final : public FreedRanges {
 public:
  explicit Faults(VulkanContext&);

  // The call whose work is recorded while this object lives. Calls nest.
  class Caller {
   public:
    // called: the composed op that the call is part of; null: none.
    Caller(Faults& faults, const char* op, const char* called, SourceLine line)
        : op_(op),
          called_(called),
          line_(line),
          faults_(faults),
          outer_(std::exchange(faults.caller_, this)) {}
    ~Caller() { faults_.caller_ = outer_; }
    Caller(const Caller&) = delete;

   private:
    friend class Faults;
    const char *const op_, *const called_;
    const SourceLine line_;
    Faults& faults_;
    Caller* const outer_;
    int64_t record_ = -1;  // number of its record, counted from the first one ever; -1: none yet
  };

  // Address where the current call writes a fault. It holds four words: a FaultKind, the position, the value
  // (for a probability or weight, the bits of its float) and the size that an index must be below. All
  // launches of a call share them. The stream must make room first.
  VkDeviceAddress address();
  bool full() const { return records_.size() >= kRecords; }

  // Remembers work of the current call, recorded for `batch`.
  void work(std::span<Range* const> reads, std::span<Range* const> writes, uint64_t batch);
  void freed(const Range*) noexcept override;
  // Whether a record belongs to `batch`, which must then be made visible to the host.
  bool concerns(uint64_t batch) const { return !records_.empty() && last_batch_ >= batch; }
  // Checks the records of the batches up to `reached`, which have finished.
  void collect(uint64_t reached);
  // Throws the first fault found since the last call, if any.
  void raise();
  // Throws an Error if the range holds results of a faulty call.
  void check_sound(const Range& range) {
    if (range.spoiled) [[unlikely]]
      refuse(range);
  }

 private:
  static constexpr size_t kRecords = 4096;
  // The layout that the shaders write (gpu/ops/glsl/fault.glsl).
  struct Words {
    FaultKind kind;
    uint32_t position;
    int32_t value;
    uint32_t size;
  };
  struct Record {
    std::string op;
    const char* called;  // null: no composed op
    SourceLine line;
    uint64_t batch = 0;  // the last batch with work of the call
  };
  struct Work {
    int64_t record;  // the call's record; -1: none
    uint64_t batch;
    std::vector<Range*> reads, writes;
    const Range* freed = nullptr;  // not null: this entry is a freed range, not work
  };
  Words* words(int64_t record) {
    return reinterpret_cast<Words*>(memory_.mapped) + uint64_t(record) % kRecords;
  }
  [[noreturn]] void refuse(const Range&);
  bool in_progress(int64_t record) const;
  static std::string describe(const Words&, const Record&);  // without the composed op
  static ErrorKind kind_of(const Words&);
  void spoil(int64_t record, const std::string& why);

  HostBuffer memory_;
  Caller* caller_ = nullptr;
  std::deque<Record> records_;  // open records
  int64_t first_ = 0;           // number of the first open record
  uint64_t last_batch_ = 0;
  std::deque<Work> work_;  // since the first open record
  std::string found_;      // message of the first fault that was not yet thrown
  ErrorKind found_kind_ = ErrorKind::value;
};

}  // namespace lunagrad::gpu
