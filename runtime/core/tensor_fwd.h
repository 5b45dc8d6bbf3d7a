#pragma once
// Declares Tensor and lists of tensors, for headers that only pass them on (tensor.h defines them).
#include <vector>

namespace lunagrad {

class Tensor;
using TensorList = std::vector<Tensor>;

}  // namespace lunagrad
