#pragma once
// Runs elementwise rows and their gradients on CPU tensors of any strides and types. Called through Op::cpu.
namespace lunagrad {

struct Call;

// The output is contiguous, or is in[0] itself.
void run_elementwise(const Call&);

}  // namespace lunagrad
