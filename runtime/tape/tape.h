#pragma once
// The tape records calls as nodes (node.h); backward() differentiates them (backward.h). run() calls record()
// for each op; tensors hold their node. For the thread of the tensors.
#include "runtime/tape/backward.h"
#include "runtime/tape/node.h"

namespace lunagrad {

// Adds a hook on the gradient of x; returns an id for remove_hook. Error when x does not require grad. A
// backward pass that frees the graph removes the hooks of tensors that are not leaves, because a hook may
// hold its own tensor.
uint64_t register_hook(const Tensor& x, Hook);
void remove_hook(const Tensor& x, uint64_t id);
void retain_grad(const Tensor& x);  // keeps .grad of a tensor that is not a leaf

// An id for a note of a call that recorded no node. Nodes that are made later have larger ids.
uint64_t new_node_id();
// Records the call that has just run. Called by run() and by custom ops.
void record(Call&, uint64_t ticks);
// Error when x may not be written in place: read-only memory of a host, or, with the tape on, a leaf that
// requires grad or a view of one.
void check_in_place(const char* op, const Tensor& x);
// After an in-place write into x by `call`, whose in[0] is x before the write: x and its base get the new
// node.
void record_in_place(const Tensor& x, Call& call, uint64_t ticks);

}  // namespace lunagrad
