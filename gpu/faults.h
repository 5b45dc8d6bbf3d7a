#pragma once
// What kernels find wrong with the values that they read: an index out of range, a singular matrix. A
// kernel cannot stop the script, so it notes the fault in a record, which is looked at when the batch has
// finished. Each call that may find something has a record of its own, which knows its op and script line.
// While records are open, the work that is recorded is remembered: the tensors that came of a faulty call are
// then marked in their ranges (Range::spoiled), and any use of them is an error. Memory tells of freed
// ranges. Not thread-safe: the device's lock guards it.
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/memory.h"
#include "runtime/error.h"
#include "runtime/trace.h"

namespace lunagrad::gpu {

// From index_select on: an index of that op is out of range.
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
  singular,  // these of a batch of matrices (note_matrix() of shaders/fault.glsl)
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
  scatter_reduce
};

// What a kernel found wrong, raised by a later call that waits for the device.
class FoundLater : public Error {
 public:
  using Error::Error;
};

class Faults final : public FreedRanges {
 public:
  explicit Faults(VulkanContext&);

  // The call whose work is recorded while the object lives. Calls nest.
  class Caller {
   public:
    // called: the composed op that the call is part of, null: none.
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
    int64_t record_ = -1;  // its number, counted from the first one ever; -1: none yet
  };

  // Where the current call notes a fault: four words, a FaultKind, the position, the value (for a probability
  // or weight, the bits of its float) and the size that an index must be below. The words of all launches of
  // a call are the same. The stream must make room first.
  VkDeviceAddress address();
  bool full() const { return records_.size() >= kRecords; }

  // Work of the current call was recorded for `batch`.
  void work(std::span<Range* const> reads, std::span<Range* const> writes, uint64_t batch);
  void freed(const Range*) noexcept override;
  // Whether a record belongs to `batch`, which must then be made visible to the host.
  bool concerns(uint64_t batch) const { return !records_.empty() && last_batch_ >= batch; }
  // Looks at the records of the batches up to `reached`, which have finished.
  void collect(uint64_t reached);
  // Throws the first fault found since the last call, if any.
  void raise();
  // Error when the range holds what came of a faulty call.
  void check_sound(const Range& range) {
    if (range.spoiled) [[unlikely]]
      refuse(range);
  }

 private:
  static constexpr size_t kRecords = 4096;
  // As the shaders write it (shaders/fault.glsl).
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
    uint64_t batch = 0;  // the last one with work of the call
  };
  struct Work {
    int64_t record;  // of the call, -1: it has none
    uint64_t batch;
    std::vector<Range*> reads, writes;
    const Range* freed = nullptr;  // instead of work
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
  std::deque<Record> records_;  // open ones
  int64_t first_ = 0;           // number of the first open one
  uint64_t last_batch_ = 0;
  std::deque<Work> work_;  // since the first open record
  std::string found_;      // not yet thrown
  ErrorKind found_kind_ = ErrorKind::value;
};

}  // namespace lunagrad::gpu
