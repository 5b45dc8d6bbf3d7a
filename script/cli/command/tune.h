#pragma once
// `lunagrad bench --tune`: which plan of each of many matrix products is the fastest on a device, measured
// and kept for the runs to come (runtime/product_planner.h). On the calling thread, with a context of its
// own.
#include <string>

namespace lunagrad {

// "": the first GPU. The exit code.
int tune_products(const std::string& device);

}  // namespace lunagrad
