#pragma once
// The threads with which a driver without a GPU draws: they should use the processor only when the training
// does not. Drawing thread only.
#include <set>

namespace lunagrad {

std::set<int> driver_threads();  // present threads of the driver in this process: Mesa names them llvmpipe-N
// Lowers the priority of the driver's threads that are not in `earlier`.
void let_driver_threads_yield(const std::set<int>& earlier);

}  // namespace lunagrad
