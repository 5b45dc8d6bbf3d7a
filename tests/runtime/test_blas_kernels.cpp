// The choice of OpenBLAS's kernels for a processor that it does not know.
#include <doctest/doctest.h>

#include <cstdlib>

#include "runtime/ops.h"
#include "runtime/ops/products/cpu/blas_kernels.h"

extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

using namespace lunagrad;

TEST_CASE("kernels without AVX2 give way to those that the processor can run") {
  CHECK(blas::better_kernels("Prescott", true, true) == "SkylakeX");
  CHECK(blas::better_kernels("Prescott", true, false) == "Haswell");
  CHECK(blas::better_kernels("Sandybridge", true, false) == "Haswell");
  CHECK(blas::better_kernels("Prescott", false, false) == "");
  CHECK(blas::better_kernels("Zen", true, true) == "");
  CHECK(blas::better_kernels("Cooperlake", true, true) == "");
}

#ifdef __x86_64__
TEST_CASE("OpenBLAS takes better kernels while it runs, unless the environment names some") {
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || !__builtin_cpu_supports("avx2")) return;
  const char* const set = std::getenv("OPENBLAS_CORETYPE");
  const std::string before = set ? set : "", in_use = blas::kernels_in_use();
  const auto take = [](const char* name) {
    setenv("OPENBLAS_CORETYPE", name, 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
  };
  const Tensor a = reshape(arange(0, 300 * 200, 1, DType::f64), {300, 200});
  const Tensor b = reshape(arange(0, 200 * 100, 1, DType::f64), {200, 100});
  const auto product = [&] { return matmul(a, b).to_vector<double>(); };
  const std::vector<double> expected = product();  // whole numbers below 2^53: exact

  take("Prescott");
  blas::use_best_kernels();
  CHECK(blas::kernels_in_use() == "Prescott");
  CHECK(product() == expected);
  unsetenv("OPENBLAS_CORETYPE");
  blas::use_best_kernels();
  CHECK(blas::kernels_in_use() == blas::better_kernels("Prescott", true, __builtin_cpu_supports("avx512vl")));
  CHECK(std::getenv("OPENBLAS_CORETYPE") == nullptr);
  CHECK(product() == expected);

  take(in_use.c_str());
  if (set)
    setenv("OPENBLAS_CORETYPE", before.c_str(), 1);
  else
    unsetenv("OPENBLAS_CORETYPE");
  CHECK(product() == expected);
}
#endif
