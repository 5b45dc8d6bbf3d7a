#pragma once
// `lunagrad bench --tune`: measures which plan of each of many matrix products is the fastest on a device,
// and saves it for later runs (runtime/core/product_planner.h). Runs on the calling thread, with its own
// context.
#include <string>

namespace lunagrad {

// "": the first GPU. Returns the exit code.
int tune_products(const std::string& device);

}  // namespace lunagrad
