// Prints the name of the best SIMD target of this processor among the targets that the kernels are compiled for.
#include <hwy/targets.h>

#include <cstdio>

int main() {
  const int64_t supported = hwy::SupportedTargets();
  for (const int64_t target : {int64_t(HWY_AVX3), int64_t(HWY_AVX2), int64_t(HWY_SSE4)})
    if (supported & target) {
      std::printf("%s", hwy::TargetName(target));
      return 0;
    }
  std::printf("none");
}
