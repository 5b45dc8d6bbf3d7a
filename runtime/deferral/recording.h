#pragma once
// Records the calls of a step, with the memory that each reads and writes, so that the step can run again as
// a captured graph, without its script (captured_graph.h). As the Trace of the context it sees each call that
// was computed. It keeps a handle to all memory of the step, so that an address always means the same
// storage. Belongs to the thread of its context.
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad {

// A block of memory that a step uses.
struct MemorySlot {
  enum class Kind : uint8_t {
    argument,  // of an argument; `index` counts the arguments
    gradient,  // of a leaf's gradient at the beginning; `index` counts the leaves
    outside,   // of any other tensor that exists before the step
    made       // of a call's result
  };
  Kind kind;
  int index = 0;
  Ref<Storage> storage;
  Tensor tensor;  // the tensor with this memory; undefined for `made`
  uint32_t version = 0;
  Device* device = nullptr;
  size_t bytes = 0;
};

// A tensor that a call uses, as a part of a slot.
struct Use {
  static constexpr int kAbsent = -1, kNumber = -2;
  int slot = kAbsent;
  LayoutRef layout;
  int64_t offset = 0;  // in elements, from the offset of the slot's tensor, or from the start of the memory
  DType dtype = DType::f32;
  Tensor number;  // for kNumber
};

bool same_use(const Use&, const Use&);  // compares uses of two recordings

struct RecordedCall {
  const Op* op;
  Values params;
  Arguments args;
  std::vector<Use> in, out;
  Device* device;
  SourceLine line;
  uint32_t module;
  const char* called;  // the composed op that made it (runtime/core/called.h); null: none
  bool backward;       // made by a backward pass
  MatmulPrecision precision;
  int draw = -1;             // index of the draw in `args` among the step's random draws; -1: none
  std::vector<int> written;  // slots that the call wrote in place
};

// The recorded calls between two calls that the script still makes itself (Recording::pause).
struct Segment {
  size_t calls = 0, draws = 0;  // recorded up to its end
  std::vector<Use> gradients;   // of the leaves, at its end
};

class Recording final : public Trace {
 public:
  // `leaves`: the leaves whose gradients the step changes. Leaves that are missing here are in found();
  // another recording must get them.
  Recording(const TensorList& arguments, const TensorList& leaves);
  ~Recording() override;
  Recording(const Recording&) = delete;

  // Around a call that the script makes itself in each step: it is not recorded.
  void pause();
  void resume();
  void end();  // ends the step and its last segment
  // For a result, or an operand of a call that the script makes itself.
  Use use_of(const Tensor&);
  void refuse(std::string why);  // the step cannot be captured; the first reason is kept
  void forget_results();         // frees the results' memory; the calls can still be compared

  const std::string& refused() const { return refused_; }
  const std::vector<RecordedCall>& calls() const { return calls_; }
  const std::vector<MemorySlot>& slots() const { return slots_; }
  const std::vector<Segment>& segments() const { return segments_; }
  const TensorList& leaves() const { return leaves_; }
  const TensorList& found() const { return found_; }  // leaves that were operands
  bool knows_its_leaves() const;                      // whether the leaves found are the leaves given
  // Returns "" if the other recording has the same calls with the same operands, else the first difference.
  std::string difference(const Recording& other) const;

  void ran(const Call&, uint64_t ticks) override;
  void fell_back(const Call&, const char* reason) override;
  bool sees_calls() const override { return false; }

 private:
  struct Entry {  // one of the tensors on memory that several arguments share
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
    bool used = false;  // a call used it
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
  std::vector<int> held_;  // results and gradients that may have other handles than the recording's
  size_t calls_since_free_ = 0, bytes_since_free_ = 0;
  std::vector<RecordedCall> calls_;
  std::vector<Segment> segments_;
  std::vector<Draw> draws_;
  uint64_t seed_, next_stream_;
  std::string refused_;
  bool ended_ = false;
};

}  // namespace lunagrad
