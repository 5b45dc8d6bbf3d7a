#pragma once
// What a tape keeps of a value: its summary and its sketch, of any dtype. FigureCollector collects those of
// many tensors and waits once per device. For the thread of the tensors.
#include "runtime/statistics/sketch.h"
#include "runtime/statistics/summary.h"

namespace lunagrad {

struct ValueFigures {
  Summary summary;  // of integers and truth values, too, as numbers
  Sketch sketch{};
};

class FigureCollector {
 public:
  size_t add(const Tensor&);         // returns the index of its figures in the result of read()
  std::vector<ValueFigures> read();  // of all tensors added since the last call; waits for their devices
  void clear();                      // without a wait
  void sync() const { summaries_.sync(); }  // as Summaries::sync
  // Takes over all tensors of the other one; returns what their indices grow by.
  size_t append(FigureCollector&&);

 private:
  Summaries summaries_;
  Sketches sketches_;
};

}  // namespace lunagrad
