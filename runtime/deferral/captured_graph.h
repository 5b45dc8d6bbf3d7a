#pragma once
// A captured graph: a step that runs again without its script. It has the calls of a Recording, planned once
// (groups.h). Results that only the step reads have memory from their first use to their last. A small step's
// results share memory that is kept from step to step. A large step takes memory from the device's pool and
// gives it back, so that other work can use it between two steps. A result that is held outside gets new
// memory before the step runs again. Each run draws new random numbers. Belongs to one thread.
#include <string>
#include <vector>

#include "runtime/deferral/groups.h"
#include "runtime/deferral/recording.h"
#include "runtime/deferral/report.h"
#include "runtime/deferral/run_queued.h"

namespace lunagrad {

class CapturedGraph {
 public:
  // `kept`: the tensors that the caller will take().
  CapturedGraph(const Recording&, const std::vector<Use>& kept);
  CapturedGraph(const CapturedGraph&) = delete;

  // Whether the arguments, the gradients and the other tensors of the step match the recording.
  bool fits(const TensorList& arguments) const;
  // Takes the arguments of the next step. Returns false, and changes nothing, when they do not fit.
  bool begin(const TensorList& arguments);
  // Runs a segment, and sets the leaves' gradients.
  void run(size_t segment);
  size_t segments() const { return segments_.size(); }
  Tensor take(const Use&) const;  // a tensor of the step, after it has run
  void finish();                  // call it after the last take(): drops the arguments

  const QueueReport& report() const { return report_; }  // the plan, without times
  // Bytes that results of the step keep between two runs, for results that only the step reads.
  uint64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Memory {
    MemorySlot slot;
    Ref<Storage> storage;  // its memory now
    Ref<Storage> nothing;  // an empty storage, for an argument between two runs
    int64_t offset = 0;    // bytes from the start of the storage to the slot's tensor
    LayoutRef layout;      // layout of the slot's tensor
    DType dtype = DType::f32;
    int64_t grain = 1;                // bytes of the largest element type of the bodies
    std::vector<TensorBody*> bodies;  // operands and results of the calls in this memory
    bool escapes = false;             // a result that is read outside its segment
    bool stored = true;               // false: it never leaves its group
  };
  struct Unit {
    std::vector<uint32_t> calls;
    CallGroup group;  // when there are several calls
    // slots that get memory before it runs, and slots that give it back after
    std::vector<uint32_t> begins, ends;
  };
  struct Part {  // a segment
    size_t units, draws;
    std::vector<Use> gradients;
    std::vector<bool> changed;  // for each leaf: whether its gradient is another tensor than before
  };

  Tensor tensor_of(const Use&);
  int first_gradient(int leaf) const;
  void plan(const Recording&);
  void find_escaping(const Recording&, const std::vector<Use>& kept);
  void plan_memory();
  void share_memory();
  void place(Memory&, const Ref<Storage>&, int64_t offset);
  bool fits(const Memory&, const Tensor& now) const;
  void renew_results();
  void draw_numbers(size_t segment);
  void run_unit(const Unit&);
  void run_calls(const Unit&);

  std::vector<Memory> memory_;  // by slot
  std::vector<QueuedCall> calls_;
  std::vector<std::vector<int>> written_;               // by call: the slots written in place
  std::vector<std::pair<uint32_t, int>> random_calls_;  // call, and its draw's index in the step
  std::vector<Unit> units_;
  std::vector<Part> segments_;
  QueueReport report_;
  bool large_ = false;                // whether results give their memory back between two runs
  std::vector<Ref<Storage>> shared_;  // memory of a small step's results; allocated at the first run
  TensorList leaves_;
  std::vector<bool> has_gradient_;       // for each leaf, at the beginning
  std::vector<bool> replaces_gradient_;  // for each leaf: whether it ends with another gradient, or none
  std::vector<RandomDraw> draws_;
  uint64_t bytes_kept_ = 0;
};

}  // namespace lunagrad
