#pragma once
// A step that runs again without its script: the calls of a Recording, planned once (groups.h). Results that
// only the step reads have memory from their first use to their last. Those of a small step share memory
// that is kept from step to step; those of a large one take it from the device's pool and give it back, so
// that what runs between two steps has it. A result that somebody outside holds gets new memory before the
// step runs again. Random numbers are drawn anew. Belongs to one thread.
#include <string>
#include <vector>

#include "runtime/deferral/groups.h"
#include "runtime/deferral/recording.h"
#include "runtime/deferral/report.h"
#include "runtime/deferral/run_queued.h"

namespace lunagrad {

class SealedStep {
 public:
  // `kept`: what the caller will take().
  SealedStep(const Recording&, const std::vector<Use>& kept);
  SealedStep(const SealedStep&) = delete;

  // Whether the arguments, the gradients and the tensors that the step uses are like those of the recording.
  bool fits(const TensorList& arguments) const;
  // Takes the arguments of the next step. False, and nothing has changed: they do not fit.
  bool begin(const TensorList& arguments);
  // Runs a segment, and gives the leaves their gradients.
  void run(size_t segment);
  size_t segments() const { return segments_.size(); }
  Tensor take(const Use&) const;  // a tensor of the step that has run
  void finish();                  // all results are taken: lets go of the arguments

  const QueueReport& report() const { return report_; }  // of the plan, without times
  // Memory of results that only the step reads, between two steps.
  uint64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Memory {
    MemorySlot slot;
    Ref<Storage> storage;  // now
    Ref<Storage> nothing;  // of an argument between two steps, which must not keep it
    int64_t offset = 0;    // of the slot's tensor, in bytes
    LayoutRef layout;      // and its form
    DType dtype = DType::f32;
    int64_t grain = 1;                // bytes of the largest element type of a body
    std::vector<TensorBody*> bodies;  // operands and results of the calls that lie here
    bool escapes = false;             // of a result: something outside of the step reads it
    bool stored = true;               // false: it never leaves its group
  };
  struct Unit {
    std::vector<uint32_t> calls;
    CallGroup group;                     // of several calls
    std::vector<uint32_t> begins, ends;  // slots that get memory before it runs, and give it back after it
  };
  struct Part {  // a segment
    size_t units, draws;
    std::vector<Use> gradients;
    std::vector<bool> changed;  // of each leaf, whether its gradient is another one than before
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
  std::vector<std::vector<int>> written_;               // by call: the slots that it writes in place
  std::vector<std::pair<uint32_t, int>> random_calls_;  // call, draw of the step
  std::vector<Unit> units_;
  std::vector<Part> segments_;
  QueueReport report_;
  bool large_ = false;                // whether it gives memory back between two steps
  std::vector<Ref<Storage>> shared_;  // of a small step's results; allocated when it runs first
  TensorList leaves_;
  std::vector<bool> has_gradient_;       // of each leaf, at the beginning
  std::vector<bool> replaces_gradient_;  // and whether it has another one, or none, at the end
  std::vector<RandomDraw> draws_;
  uint64_t bytes_kept_ = 0;
};

}  // namespace lunagrad
