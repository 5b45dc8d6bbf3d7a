#pragma once
// Which of OpenBLAS's kernels run on this processor. OpenBLAS takes those for SSE3 ("Prescott") on a
// processor that came out after it, which makes products and factorisations two to five times slower.
#include <string>
#include <string_view>

namespace lunagrad::blas {

// The name of OpenBLAS's kernels that suit a processor with these features better than `chosen`; "" if
// `chosen` is as good. Any thread.
std::string_view better_kernels(std::string_view chosen, bool avx2, bool avx512);

// Makes OpenBLAS take those kernels, unless OPENBLAS_CORETYPE names others. Once, before the first product
// and while no other thread calls OpenBLAS. Does nothing with a build of OpenBLAS that holds one set of
// kernels.
void use_best_kernels();

// The kernels in use, as "Cooperlake". Any thread.
std::string kernels_in_use();

}  // namespace lunagrad::blas
