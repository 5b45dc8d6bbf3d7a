#pragma once
// Which calls with 16-bit operands the CPU computes without a cast to f32. Pure; any thread.
namespace lunagrad {

struct Call;

// Whether this processor has a 16-bit kernel for the call. The op otherwise converts 16-bit operands
// (Op::half_through_f32); all operands of the call have one type. Implemented in ops/products/half_ops.cpp.
bool cpu_computes_halves(const Call&);

}  // namespace lunagrad
