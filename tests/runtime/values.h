#pragma once
// Values that go into tensors and come out of them.
#include <limits>
#include <vector>

#include "runtime/ops.h"

namespace lunagrad::tests {

using List = std::vector<double>;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline List values(const Tensor& x) { return x.to_vector<double>(); }

inline Tensor ids(const std::vector<int64_t>& values, const Shape& shape) {
  return Tensor::from<int64_t>(values, shape);
}
inline Tensor ids(const std::vector<int64_t>& values) { return ids(values, {int64_t(values.size())}); }

}  // namespace lunagrad::tests
