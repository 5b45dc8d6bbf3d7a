#pragma once
// Takes down the tape of chosen steps for the run's folder: each node of a backward pass with the figures of
// its first output and of its gradient, and those of the inputs that no node made (batches, labels, masks).
// Of the passes of a step it keeps the one with the most nodes. A step that is not chosen costs nothing.
// Belongs to the session's thread.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/op.h"
#include "runtime/statistics/value_figures.h"
#include "runtime/tape/tape.h"
#include "script/view/tape.h"

namespace lunagrad {

class TapeRecorder final : public Capture {
 public:
  void begin_step(bool chosen);
  bool recording() const { return recording_; }
  void ran(const Call&);
  // The end of a step, or of the script within one: a line for tape.jsonl, "" when there is none.
  std::string end_step(int64_t step);
  void begin_run() { structure_.clear(); }

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override;

 private:
  class Look;  // hides the measuring ops from all listeners
  std::vector<ValueFigures> read(size_t& of_pass);
  bool recording_ = false, in_pass_ = false, busy_ = false;
  FigureCollector of_ops_, of_pass_;  // read at the end of the step
  // Tensor id -> index into of_ops_, plus one. Sources require no gradient, so that no node makes them.
  std::unordered_map<uint64_t, size_t> outputs_, sources_;
  std::vector<Node*> pass_;  // of the current pass, whose caller keeps them alive
  struct Place {
    size_t output = 0;              // index into of_ops_, plus one; 0: none
    size_t leaf = 0, gradient = 0;  // into of_pass_
  };
  std::vector<Place> places_;
  std::unordered_map<uint64_t, size_t> positions_;  // node id -> position in the pass
  std::vector<NodeInfo> nodes_;                     // of the largest pass of the step
  size_t left_out_ = 0;                             // nodes of a pass that was too large
  std::string structure_;                           // of the latest tape that was written whole
  int64_t structure_step_ = 0;
};

}  // namespace lunagrad
