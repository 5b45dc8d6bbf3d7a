#pragma once
// Calls that are put off: run() gives their results memory only when somebody reads one, so the calls in
// between can be planned together. The tape, shapes, errors and random draws are those of calls that run at
// once; only computing waits. Every step is planned anew from its own calls: nothing of an earlier step is
// kept, so nothing of a script is frozen.
//
// The queue holds operands and results by handles of its own. A storage that only these handles refer to is
// of no use to anyone else when its last reader has run: then its calls are dropped, or their results stay
// inside of a group (groups.h).
//
// A queue belongs to a Context and to its thread. Errors of a put-off computation are raised where the queue
// is computed, with the line of the call; what has not run stays in the queue.
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

  // Whether the call may wait. Its outputs are laid out and its device has a kernel for it.
  bool takes(const Call&);
  // Puts the call off, for the device of its operands. Its new outputs have promised memory. An output may be
  // an operand, written in place.
  void put(const Call&, Device&);
  // Computes all calls of the queue. Error of an op: the calls that have not run stay. If memory runs out, it
  // calls what free_memory_with() gave, and goes on.
  void compute();
  void free_memory_with(std::function<void()> free_memory) { free_memory_ = std::move(free_memory); }
  // Called when the queue is large, to drop results that are garbage.
  void drop_garbage_with(std::function<void()> drop_garbage) { drop_garbage_ = std::move(drop_garbage); }

  bool empty() const { return calls_.empty(); }
  uint64_t promised() const { return promised_; }  // bytes of the results
  // What was computed since the last call of begin_report().
  std::shared_ptr<const QueueReport> report() const { return report_; }
  void begin_report() { report_ = std::make_shared<QueueReport>(); }

 private:
  struct Place {  // a storage of the calls
    Storage* storage;
    TensorBody* own;   // the queue's latest handle to it
    uint32_t handles;  // of the queue to it: its part of Storage::queued
    bool made;         // by a call of the queue
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
  std::vector<Place> places_;  // each storage once
  uint64_t promised_ = 0;      // bytes
  uint64_t window_ = 0;        // bytes of results in use with which the queue is computed
  uint64_t next_look_ = 0;     // bytes of results with which it looks how many are in use
  bool computing_ = false;
  std::function<void()> free_memory_, drop_garbage_;
  std::shared_ptr<QueueReport> report_ = std::make_shared<QueueReport>();
};

}  // namespace lunagrad
