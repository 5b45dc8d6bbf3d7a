#pragma once
// The figures that a tape keeps of a value of any dtype: its summary and its sketch. FigureCollector collects
// the figures of many tensors and waits once per device. For the thread of the tensors.
#include "runtime/statistics/sketch.h"
#include "runtime/statistics/summary.h"

namespace lunagrad {

struct ValueFigures {
  Summary summary;  // integers and bools count as numbers
  Sketch sketch{};
};

class FigureCollector {
 public:
  size_t add(const Tensor&);  // returns the index of its figures in the result of read()
  // figures of all tensors added since the last call; waits for their devices
  std::vector<ValueFigures> read();
  void clear();                             // drops the tensors without a wait
  void sync() const { summaries_.sync(); }  // see Summaries::sync
  // Takes over all tensors of another collector; returns the number to add to their indices.
  size_t append(FigureCollector&&);

 private:
  Summaries summaries_;
  Sketches sketches_;
};

}  // namespace lunagrad
