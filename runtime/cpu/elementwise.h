#pragma once
// Runs elementwise rows and their gradients on CPU tensors of any strides and dtypes. Called through Op::cpu;
// the thread pool shares the work.
namespace lunagrad {

struct Call;

// The output must be contiguous, or be in[0] itself.
void run_elementwise(const Call&);

}  // namespace lunagrad
