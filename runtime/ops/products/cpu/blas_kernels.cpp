#include "runtime/ops/products/cpu/blas_kernels.h"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/system/processes.h"

// Builds of OpenBLAS with kernels for several processors export these functions; no header declares them. The
// first chooses the kernels if none are chosen, the second resets the choice.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace lunagrad::blas {
namespace {

constexpr const char* kChoice = "OPENBLAS_CORETYPE";
// Kernels with AVX2 or AVX-512.
constexpr std::string_view kModern[] = {"Haswell",  "Excavator",  "Zen",
                                        "SkylakeX", "Cooperlake", "SapphireRapids"};

}  // namespace

std::string_view better_kernels(std::string_view chosen, bool avx2, bool avx512) {
  if (std::find(std::begin(kModern), std::end(kModern), chosen) != std::end(kModern)) return {};
  return avx512 ? "SkylakeX" : avx2 ? "Haswell" : "";
}

void use_best_kernels() {
#ifdef __x86_64__
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || std::getenv(kChoice)) return;
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const std::string_view better = better_kernels(kernels_in_use(), avx2, avx512);
  if (better.empty()) return;
  set_variable(kChoice, std::string(better).c_str());
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unset_variable(kChoice);  // child processes choose for themselves
#endif
}

std::string kernels_in_use() { return openblas_get_corename(); }

}  // namespace lunagrad::blas
