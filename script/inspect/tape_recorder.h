#pragma once
// Records the tape of chosen steps for the run's folder: each node of a backward pass with the figures of its
// first output and its gradient, and the figures of inputs that no node made (batches, labels, masks). Of a
// step's passes it keeps the pass with the most nodes. Steps that are not chosen cost nothing. Belongs to the
// session's thread.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/op.h"
#include "runtime/statistics/value_figures.h"
#include "runtime/tape/tape.h"
#include "script/view/tape.h"

namespace lunagrad {

class TapeRecorder final : public Capture {
 public:
  void begin_step(bool chosen);
  bool recording() const { return recording_; }
  void ran(const Call&);
  // Called at the end of a step, or of the script within a step. Returns a line for tape.jsonl, "" when there
  // is none.
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
  // Tensor id -> index into of_ops_, plus one. Sources require no gradient, so no node makes them.
  std::unordered_map<uint64_t, size_t> outputs_, sources_;
  std::vector<Node*> pass_;  // nodes of the current pass, whose caller keeps them alive
  struct Place {
    size_t output = 0;              // index into of_ops_, plus one; 0: none
    size_t leaf = 0, gradient = 0;  // indices into of_pass_
  };
  std::vector<Place> places_;
  std::unordered_map<uint64_t, size_t> positions_;  // node id -> position in the pass
  std::vector<NodeInfo> nodes_;                     // nodes of the step's largest pass
  size_t left_out_ = 0;                             // number of nodes of a pass that was too large
  std::string structure_;                           // structure of the latest tape that was written in full
  int64_t structure_step_ = 0;
};

}  // namespace lunagrad
