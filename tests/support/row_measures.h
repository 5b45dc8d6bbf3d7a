#pragma once
// Measures of corresponding rows, and the shapes with which they are tested.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad::tests {

inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps,
                                bool keepdim = false) {
  return apply1(*find_op("pairwise_distance"), {x1, x2}, {p, eps, keepdim});
}
inline Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int dim, double eps) {
  return apply1(*find_op("cosine_similarity"), {x1, x2}, {dim, eps});
}

struct RowMeasure {
  std::string name;
  std::function<Tensor(const Tensor&, const Tensor&)> of;
};
inline std::vector<RowMeasure> row_measures(bool across = true) {
  std::vector<RowMeasure> measures;
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, double(INFINITY)})
    measures.push_back({"distance, p = " + std::to_string(p), [p](const Tensor& a, const Tensor& b) {
                          return pairwise_distance(a, b, p, 1e-3, p == 3);
                        }});
  for (const int dim : across ? std::vector{-1, -2} : std::vector{-1})
    measures.push_back({"cosine, dim " + std::to_string(dim), [dim](const Tensor& a, const Tensor& b) {
                          return cosine_similarity(a, b, dim, 0.5);
                        }});
  return measures;
}

struct RowShapes {
  Shape x1, x2;
};
inline std::vector<RowShapes> row_shapes() {
  return {{{37, 13}, {37, 13}}, {{5, 8, 12}, {8, 12}},  {{9, 1, 7}, {1, 11, 7}},
          {{1, 36}, {700, 36}}, {{2, 0, 3}, {1, 1, 3}}, {{3, 5, 130}, {3, 5, 130}}};
}
inline std::vector<RowShapes> large_row_shapes() {
  return {{{400, 64}, {400, 64}}, {{100, 1, 16}, {1, 120, 16}}, {{900, 64}, {1, 64}}};
}

// The peak of a call and its backward pass in relation to operands, results and gradients.
inline double peak_of_measure(const RowMeasure& measure, const Tensor& x1, const Tensor& x2) {
  Device& device = x1.device();
  device.sync();
  const size_t held = x1.nbytes() + x2.nbytes(), before = device.memory().in_use - held;
  device.reset_peak();
  double bytes = double(held);
  {
    const Tensor y = measure.of(x1, x2), g = ones_like(y.detach());
    backward(y, g);
    for (const Tensor& x : {y, g, x1.grad(), x2.grad()}) bytes += double(x.nbytes());
    device.sync();
  }
  return double(device.memory().peak - before) / bytes;
}

}  // namespace lunagrad::tests
