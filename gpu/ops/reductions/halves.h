#pragma once
// Reductions of more elements than kernels count (Kernel::run_large): on slices of the results; where a
// single result has too many elements, on halves of these, whose results are combined.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// A reduction of the results of two halves is the reduction of all elements: sums, products, extremes, norms.
// `dims_at`: the position of the parameter `dim`, before `keepdim`.
template <int dims_at>
void reduce_halves(const Call&, Recorder&);
extern template void reduce_halves<0>(const Call&, Recorder&);
extern template void reduce_halves<1>(const Call&, Recorder&);

void mean_of_halves(const Call&, Recorder&);
void aminmax_of_halves(const Call&, Recorder&);
// var, std, and the same with the mean. `root`: the result is the standard deviation.
template <bool root>
void var_of_halves(const Call&, Recorder&);
extern template void var_of_halves<false>(const Call&, Recorder&);
extern template void var_of_halves<true>(const Call&, Recorder&);

}  // namespace lunagrad::gpu
