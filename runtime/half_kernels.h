#pragma once
// Which calls with 16-bit operands the CPU computes without a cast to f32. Pure, any thread.
namespace lunagrad {

struct Call;

// Whether this processor has a kernel for the call, whose op converts 16-bit operands otherwise
// (Op::half_through_f32) and whose operands have one type. Implemented in ops/half_ops.cpp.
bool cpu_computes_halves(const Call&);

}  // namespace lunagrad
