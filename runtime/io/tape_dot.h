#pragma once
// The tape of a tensor as text for Graphviz. For the thread of the tensor.
#include <string>

#include "runtime/tensor.h"

namespace lunagrad {

// The nodes that root depends on, with their op or name, shape, dtype and source line. Without nodes when
// root has none.
std::string tape_dot(const Tensor& root);

}  // namespace lunagrad
