#pragma once
// Activation checkpointing: values that a part of the forward pass would save are dropped. When backward
// reads the first of them, they are computed again by running the part's function a second time. The nodes of
// the first run stay on the tape without values; the n-th node of the second run gives its values to the n-th
// node of the first. So gradients have the bits of a plain run, and reach every tensor that the
// function used. The second run has the generator, grad mode, autocast type, device and module path of the
// first; the context is restored afterwards. It must record the same ops as the first: an Error otherwise.
// Checkpoints nest: the second run of an outer checkpoint makes what an inner checkpoint needs for its own
// second run. For the thread of the tensors.
#include <functional>

#include "runtime/core/tensor.h"

namespace lunagrad {

// Runs `forward`, which calls the function, as a checkpoint. `again` calls the function a second time,
// without using its results; it is kept until backward frees the graph. With the tape off this only runs
// `forward`.
void run_checkpoint(const std::function<void()>& forward, std::function<void()> again);

// f(inputs) as a checkpoint, for C++ hosts.
TensorList checkpoint(std::function<TensorList(const TensorList&)> f, const TensorList& inputs);

}  // namespace lunagrad
