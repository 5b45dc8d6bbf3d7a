#include "runtime/cpu/blas.h"

#include <cblas.h>

namespace lunagrad::blas {

void use_one_thread() { openblas_set_num_threads(1); }

std::string description() { return std::string("OpenBLAS ") + openblas_get_corename(); }

}  // namespace lunagrad::blas
