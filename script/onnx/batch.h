#pragma once
// Makes the batch size of a graph dynamic. The model is recorded with batch sizes n and n + 1. Values that
// are equal in both do not depend on the batch; sizes that grew are computed from the input's size; any other
// difference is an Error, because the file would be wrong for other batch sizes.
#include "script/onnx/graph.h"

namespace lunagrad::onnx_export {

// `dim` of every input is the batch, of size n in `graph`. `larger` is the same graph for n + 1.
void follow_batch(Graph& graph, Graph& larger, int dim, int64_t n);

}  // namespace lunagrad::onnx_export
