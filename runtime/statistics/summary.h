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
  double mean_magnitude = 0;                    // mean of |x| over the finite elements

  double largest() const { return std::max(-min, max); }  // largest magnitude
  bool finite() const { return nans + infs == 0; }
};

// For floating tensors, and for the absolute values of complex tensors. Other dtypes get only the count.
Summary summarize(const Tensor&);

// summarize() of each tensor, with one dispatch and one wait per device for any number of tensors.
std::vector<Summary> summarize_all(const std::vector<Tensor>&);

class Summaries {
 public:
  Summaries();
  ~Summaries();
  size_t add(const Tensor&);    // returns the index of its summary in the result of read()
  std::vector<Summary> read();  // summaries of all tensors added since the last call; waits for their devices
  void clear();                 // drops the tensors without a wait
  // Waits for the devices; throws the errors of the calls that they ran.
  void sync() const;
  // Takes over all tensors of another collector; returns the number to add to their indices.
  size_t append(Summaries&&);
  size_t size() const { return found_.size(); }

 private:
  std::vector<Summary> found_;
  std::vector<size_t> waiting_;  // for each of packed_: the index of its summary in found_
  std::vector<Tensor> packed_;   // results of _summary on devices
};

}  // namespace lunagrad
