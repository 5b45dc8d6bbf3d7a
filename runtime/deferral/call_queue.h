#pragma once
// Deferred calls: run() gives their results memory only when a result is read, so that the calls in between
// can be planned together. The tape, shapes, errors and random draws are the same as for eager calls; only
// the computation waits. Every step is planned again from its own calls: nothing of an earlier step is kept,
// so no behaviour of a script is frozen.
//
// The queue has its own handles to operands and results. When only these handles refer to a storage, its
// value is not needed after its last reader in the queue: calls that nobody needs are dropped, and results
// that only their group reads get no memory (groups.h).
//
// A queue belongs to a Context and to its thread. Errors of a deferred call are thrown where the queue is
// computed, with the line of the call; calls that have not run stay in the queue.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/deferral/groups.h"
#include "runtime/deferral/report.h"

namespace lunagrad {

class CallQueue {
 public:
  CallQueue() = default;
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;

  // Whether the call may be deferred. Its outputs are laid out and its device has a kernel for it.
  bool takes(const Call&);
  // Defers the call, for the device of its operands. Its new outputs have no memory yet. An output may be an
  // operand, written in place.
  void put(const Call&, Device&);
  // Computes all calls of the queue. Throws the error of an op; then the calls that have not run stay. If
  // memory runs out, calls the function given to free_memory_with() and tries again.
  void compute();
  void free_memory_with(std::function<void()> free_memory) { free_memory_ = std::move(free_memory); }
  // The function is called when the queue is large, to drop results that are garbage.
  void drop_garbage_with(std::function<void()> drop_garbage) { drop_garbage_ = std::move(drop_garbage); }

  bool empty() const { return calls_.empty(); }
  uint64_t pending_bytes() const { return pending_bytes_; }  // bytes of the results
  // A report of the calls computed since the last begin_report().
  std::shared_ptr<const QueueReport> report() const { return report_; }
  void begin_report() { report_ = std::make_shared<QueueReport>(); }

 private:
  struct Place {  // a storage that the calls use
    Storage* storage;
    TensorBody* own;   // the queue's latest handle to it
    uint32_t handles;  // the queue's handles to it: its part of Storage::queued
    bool made;         // a call of the queue makes it
  };
  void compute_once();
  void take_operands(QueuedCall&, const Operands& in, const Operands& out);
  Tensor own_handle(const Tensor&, bool result);
  void forget_places();
  bool is_large();
  std::vector<uint8_t> find_alive() const;
  void run_unit(Unit, const Plan&);
  void keep_unfinished(const Plan&, size_t first_unit);

  std::vector<QueuedCall> calls_;
  std::vector<Place> places_;   // each storage once
  uint64_t pending_bytes_ = 0;  // bytes
  uint64_t window_ = 0;         // the queue is computed when results in use take so many bytes
  uint64_t next_look_ = 0;      // the next count of results in use happens at so many bytes of results
  bool computing_ = false;
  std::function<void()> free_memory_, drop_garbage_;
  std::shared_ptr<QueueReport> report_ = std::make_shared<QueueReport>();
};

}  // namespace lunagrad
