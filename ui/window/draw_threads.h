#pragma once
// The threads that a driver without a GPU draws with: they take the processor only when the training leaves
// it. Drawing thread only.
#include <set>

namespace lunagrad {

std::set<int> driver_threads();  // of this process now: Mesa names them llvmpipe-N
// Lets the driver's threads that are not among `earlier` yield to all others.
void let_driver_threads_yield(const std::set<int>& earlier);

}  // namespace lunagrad
