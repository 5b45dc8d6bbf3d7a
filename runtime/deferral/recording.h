#pragma once
// Records the calls of a step, with the memory that each reads and writes, so that the step can run again
// without its script (sealed_step.h). As the Trace of the context it sees each call that was computed. It
// keeps a handle to all memory of the step, so that no address stands for two. Belongs to the thread of its
// context.
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/op.h"

namespace lunagrad {

// A block of memory of a step.
struct MemorySlot {
  enum class Kind : uint8_t {
    argument,  // of a tensor that the caller gives; `index` counts them
    gradient,  // of the gradient that a leaf has at the beginning; `index` counts the leaves
    outside,   // of another tensor that exists before the step
    made       // of a result
  };
  Kind kind;
  int index = 0;
  Ref<Storage> storage;
  Tensor tensor;  // whose memory it is, of all kinds but `made`
  uint32_t version = 0;
  Device* device = nullptr;
  size_t bytes = 0;
};

// A tensor as a call sees it: a part of a slot.
struct Use {
  static constexpr int kAbsent = -1, kNumber = -2;
  int slot = kAbsent;
  LayoutRef layout;
  int64_t offset = 0;  // in elements: from that of the slot's tensor, or from the start of the memory
  DType dtype = DType::f32;
  Tensor number;  // of kNumber
};

bool same_use(const Use&, const Use&);  // of two recordings

struct RecordedCall {
  const Op* op;
  Values params;
  Arguments args;
  std::vector<Use> in, out;
  Device* device;
  SourceLine line;
  uint32_t module;
  const char* called;  // the composed op that made it (runtime/called.h); null: none
  bool backward;       // made by a backward pass
  MatmulPrecision precision;
  int draw = -1;             // which of the step's random draws `args` holds
  std::vector<int> written;  // slots that it wrote in place
};

// The calls between two calls of the script that stay with it (Recording::pause).
struct Segment {
  size_t calls = 0, draws = 0;  // recorded until its end
  std::vector<Use> gradients;   // of the leaves at its end
};

class Recording final : public Trace {
 public:
  // `leaves`: of which the step changes gradients; unknown ones are found(), and a further recording gets
  // them.
  Recording(const TensorList& arguments, const TensorList& leaves);
  ~Recording() override;
  Recording(const Recording&) = delete;

  // Around a call that the script makes in each step: nothing is recorded.
  void pause();
  void resume();
  void end();  // of the step; ends the last segment
  // Of a result, or of an operand of a call that stays with the script.
  Use use_of(const Tensor&);
  void refuse(std::string why);  // the step cannot be sealed; the first reason counts
  void forget_results();         // frees their memory; the calls can still be compared

  const std::string& refused() const { return refused_; }
  const std::vector<RecordedCall>& calls() const { return calls_; }
  const std::vector<MemorySlot>& slots() const { return slots_; }
  const std::vector<Segment>& segments() const { return segments_; }
  const TensorList& leaves() const { return leaves_; }
  const TensorList& found() const { return found_; }  // leaves that were operands
  bool knows_its_leaves() const;  // whether the operands that are leaves are those that it was given
  // "" if the other recording has the same calls with the same operands; else the first difference.
  std::string difference(const Recording& other) const;

  void ran(const Call&, uint64_t ticks) override;
  void fell_back(const Call&, const char* reason) override;
  bool sees_calls() const override { return false; }

 private:
  struct Entry {  // one of the tensors of a memory that several arguments share
    LayoutRef layout;
    int64_t offset;
    DType dtype;
    int slot;
  };
  struct Memory {
    std::vector<int> slots;
    std::vector<Entry> entries;
  };
  struct Draw {
    RandomDraw draw;
    bool used = false;  // by a call
  };
  int add_slot(MemorySlot::Kind, int index, const Tensor&);
  void note_view(const Call&);
  void note_leaf(const Tensor&);
  bool may_run_again(const Call&, bool in_place);
  void note_draws();
  int draw_of(const Arguments&);
  void end_segment();
  void uncount_handles();
  void free_dropped();

  Trace* outer_;
  TensorList leaves_, found_;
  std::unordered_map<const Node*, size_t> known_leaves_;
  std::unordered_map<const Storage*, Memory> memory_;
  std::vector<MemorySlot> slots_;
  std::vector<int> held_;  // results and gradients that something beside the recording may refer to
  size_t calls_since_free_ = 0, bytes_since_free_ = 0;
  std::vector<RecordedCall> calls_;
  std::vector<Segment> segments_;
  std::vector<Draw> draws_;
  uint64_t seed_, next_stream_;
  std::string refused_;
  bool ended_ = false;
};

}  // namespace lunagrad
