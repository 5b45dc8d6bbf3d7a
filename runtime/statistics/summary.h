#pragma once
// The few numbers that tell whether a tensor is in order: its norm, its extremes, its zeros and what is not
// finite, from one pass over it on its own device. Summaries collects many and waits for a device once. For
// the thread of the tensors.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lunagrad {

class Tensor;

struct Summary {
  int64_t count = 0;  // of all elements
  int64_t zeros = 0, nans = 0, infs = 0;
  double min = 0, max = 0, mean = 0, norm = 0;  // of the finite elements
  double mean_magnitude = 0;                    // the same

  double largest() const { return std::max(-min, max); }  // magnitude
  bool finite() const { return nans + infs == 0; }
};

// Of floating tensors; of complex ones the absolute values are looked at. Others have a count alone.
Summary summarize(const Tensor&);

// summarize() of each, with one dispatch and one wait per device, whatever their number.
std::vector<Summary> summarize_all(const std::vector<Tensor>&);

class Summaries {
 public:
  Summaries();
  ~Summaries();
  size_t add(const Tensor&);    // its place in what read() returns
  std::vector<Summary> read();  // of all that were added since the last call; waits for their devices
  size_t size() const { return found_.size(); }

 private:
  std::vector<Summary> found_;
  std::vector<size_t> waiting_;  // their places
  std::vector<Tensor> packed_;   // on devices: the numbers of each, one after the other
};

}  // namespace lunagrad
