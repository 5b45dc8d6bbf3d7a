#pragma once
// Summary of a tensor: norm, extremes, zeros, NaN and Inf, from one pass on the tensor's device. Summaries
// collects many tensors and waits once per device. For the thread of the tensors.
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
  double mean_magnitude = 0;                    // mean of |x|, of the finite elements

  double largest() const { return std::max(-min, max); }  // magnitude
  bool finite() const { return nans + infs == 0; }
};

// For floating tensors, and for the absolute values of complex tensors. Other dtypes get only the count.
Summary summarize(const Tensor&);

// summarize() of each, with one dispatch and one wait per device for any number of tensors.
std::vector<Summary> summarize_all(const std::vector<Tensor>&);

class Summaries {
 public:
  Summaries();
  ~Summaries();
  size_t add(const Tensor&);    // returns the index of its summary in the result of read()
  std::vector<Summary> read();  // of all tensors added since the last call; waits for their devices
  void clear();                 // without a wait
  // Returns when the devices have worked; raises what was wrong with the calls that they ran.
  void sync() const;
  // Takes over all tensors of the other one; returns what their indices grow by.
  size_t append(Summaries&&);
  size_t size() const { return found_.size(); }

 private:
  std::vector<Summary> found_;
  std::vector<size_t> waiting_;  // indices in found_ of the summaries in packed_
  std::vector<Tensor> packed_;   // results of _summary on devices
};

}  // namespace lunagrad
