#pragma once
// Sketch of a tensor: a few sums by which two tensors of one shape are compared long after both are gone. Two
// labels that changed places keep every mean and norm, but not the sketch. Sketches collects many tensors and
// waits once per device. For the thread of the tensors.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/core/tensor_fwd.h"

namespace lunagrad {

// Sum k adds the sampled elements whose number is k modulo 8. Each is multiplied by a weight of mean 0 and
// variance 1 that depends on its number alone (Weinberger et al., "Feature hashing for large scale multitask
// learning", ICML 2009). At most 1,024 evenly spaced elements are sampled. NaN and infinities count as 0, a
// complex element as its absolute value.
using Sketch = std::array<double, 8>;

// Estimates the Euclidean distance of two tensors of `count` elements; 0 for equal samples.
double sketch_distance(const Sketch&, const Sketch&, int64_t count);

class Sketches {
 public:
  Sketches();
  ~Sketches();
  Sketches(Sketches&&) noexcept;
  Sketches& operator=(Sketches&&) noexcept;

  size_t add(const Tensor&);   // any dtype; returns the index of its sketch in the result of read()
  std::vector<Sketch> read();  // sketches of all tensors added since the last call; waits for their devices
  void clear();                // drops the tensors without a wait
  // Takes over all tensors of another collector; returns the number to add to their indices.
  size_t append(Sketches&&);
  size_t size() const { return found_.size(); }

 private:
  std::vector<Sketch> found_;
  std::vector<size_t> waiting_;  // for each of samples_: its index in found_
  TensorList samples_;           // f32, on devices
};

}  // namespace lunagrad
