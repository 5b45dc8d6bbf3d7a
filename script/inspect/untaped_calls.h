#pragma once
// The calls of a step that a gradient would go through if the parameters that they read were trained: calls
// of frozen parameters, calls with the tape off, and what follows from them. They have no nodes, so the step
// notes them while a viewer watches, and a snapshot of the tape shows those that lead to it. For the
// session's thread.
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "script/inspect/kept_pass.h"

namespace lunagrad {

class UntapedCalls {
 public:
  void ran(const Call&);  // a call that recorded no node
  // Notes a call that a pause or an error is about, whatever it reads. Returns the note's id.
  uint64_t note(const Call&, SourceLine, uint32_t module);
  void read(const Tensor&);  // an operand of a recorded call: notes a frozen parameter
  // The notes that lead to nodes of the pass, or to the note `also`, newest first. Ids of nodes and notes
  // grow in the order of the calls.
  std::vector<NodeInfo> leading_to(const KeptPass&, uint64_t also = 0) const;
  // The note of an operand's maker; 0: there is none. `reader`: the node or note that reads the operand.
  uint64_t maker_of(uint64_t tensor, uint64_t reader) const;
  const KeptNode* find(uint64_t id) const;
  // After the step: keeps only the notes that lead to one of its passes or to the latest note(), since the
  // step may be kept for long, and releases the parameters, which would outlive their model.
  void retire(std::span<const std::unique_ptr<KeptPass>>);

 private:
  const Node* note_leaf(const Tensor&);  // null: it is no parameter
  uint64_t add(const Call&, SourceLine, uint32_t module);
  // The notes that lead to the pass, or to the note `also`, newest first.
  std::vector<const KeptNode*> notes_before(const KeptPass&, uint64_t also) const;
  void forget_half();
  void list_tensors();          // makes by_tensor_ from the notes
  uint64_t asked_ = 0;          // of the latest note()
  std::deque<KeptNode> notes_;  // calls in their order, each leaf before its first reader
  // By the tensor that they made, oldest first.
  std::unordered_map<uint64_t, std::vector<uint64_t>> by_tensor_;
};

}  // namespace lunagrad
