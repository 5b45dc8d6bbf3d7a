#pragma once
// A graph whose batch may have any size. The model is recorded with a batch of n and once more with one of n
// + 1: what is the same in both does not depend on the batch, sizes that grew with it are worked out from the
// input's, and anything else that differs is an Error, since the file would be wrong for other batches.
#include "script/onnx/graph.h"

namespace lunagrad::onnx_export {

// `dim` of every input is the batch, of size n in `graph`. `larger` is the same graph for n + 1.
void follow_batch(Graph& graph, Graph& larger, int dim, int64_t n);

}  // namespace lunagrad::onnx_export
