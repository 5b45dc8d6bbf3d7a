#pragma once
// The tape of a tensor as text for Graphviz. For the thread of the tensor.
#include <string>

#include "runtime/core/tensor.h"

namespace lunagrad {

// The nodes that root depends on, with their op or name, shape, dtype and source line. An empty graph when
// root has no node.
std::string tape_dot(const Tensor& root);

}  // namespace lunagrad
