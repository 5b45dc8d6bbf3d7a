#pragma once
// Chooses OpenBLAS's kernels for this processor. On a processor that is newer than OpenBLAS, it takes its
// kernels for SSE3 ("Prescott"), with which products and factorizations take two to five times as long.
#include <string>
#include <string_view>

namespace lunagrad::blas {

// The name of OpenBLAS's kernels that suit a processor with these features better than `chosen`; "" if
// `chosen` is as good. Any thread.
std::string_view better_kernels(std::string_view chosen, bool avx2, bool avx512);

// Makes OpenBLAS use the best kernels, unless OPENBLAS_CORETYPE names others. Call it once, before the first
// product and while no other thread calls OpenBLAS. Does nothing with a build of OpenBLAS that has one set of
// kernels.
void use_best_kernels();

// The kernels in use, for example "Cooperlake". Any thread.
std::string kernels_in_use();

}  // namespace lunagrad::blas
