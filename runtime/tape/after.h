#pragma once
// Functions called when gradients are complete: for one leaf, and at the end of a backward pass. A leaf with
// such a function is visited as soon as the last node that uses it has been differentiated; other leaves are
// visited at the end of the pass. So the gradients of some parameters can be sent while other gradients are
// being computed. For the thread of the tensors.
#include <functional>
#include <vector>

#include "runtime/tape/node.h"

namespace lunagrad {

// Calls f whenever a backward pass has added to .grad of the leaf; returns an id for remove_hook (tape.h).
// Error when x is not a leaf that requires grad.
uint64_t after_accumulation(const Tensor& x, std::function<void()> f);

// Calls f once when the outermost pass has ended, before its backward() returns. For functions that a
// backward pass calls. Dropped when the pass ends with an error. Error outside a pass.
void at_end_of_backward(std::function<void()> f);

// The number of the outermost pass that is running on this thread, from 1; 0: none.
uint64_t backward_pass_number();

// From here on: for backward().

// An entry of NodeExtras::hooks with this output is a function of after_accumulation.
inline constexpr uint32_t kAfterAccumulation = UINT32_MAX;

// Moves each leaf with such a function behind the last node that uses it.
void move_waited_leaves(std::vector<Node*>& order);
// Calls the functions of the leaf.
void tell_accumulated(const Node& leaf);

// A backward pass that is running on this thread.
class BackwardPass {
 public:
  BackwardPass();
  ~BackwardPass();
  BackwardPass(const BackwardPass&) = delete;
  void end();  // calls the functions of at_end_of_backward if this is the outermost pass
};

}  // namespace lunagrad
