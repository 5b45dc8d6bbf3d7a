#pragma once
// OpenBLAS as the engine uses it: one thread a call, called from the engine's own pool. Nothing else includes
// cblas.h, so another BLAS needs a change here alone. Any thread may call.
#include <string>

namespace lunagrad::blas {

void use_one_thread();      // once, before the first product
std::string description();  // "OpenBLAS Cooperlake"

}  // namespace lunagrad::blas
