#pragma once
// Makes the batch size of a graph dynamic. The model is recorded with batch sizes n and n + 1. Values that
// are equal in both graphs do not depend on the batch size. Sizes that grew are computed from the input's
// size. Any other difference is an Error, because the file would be wrong for other batch sizes. For one
// thread.
#include "script/onnx/graph.h"

namespace lunagrad::onnx_export {

// Changes `graph`, recorded with batch size n. `larger` is the graph of the same model with n + 1. `dim` is
// the batch dim of every input, from 0.
void follow_batch(Graph& graph, Graph& larger, int dim, int64_t n);

}  // namespace lunagrad::onnx_export
