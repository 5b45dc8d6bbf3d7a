// The test program. LUNAGRAD_SIMD=SSE4 (AVX2, AVX3) runs everything with the kernels of that target.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Leaves only the named target and those below it to choose from. Targets are bits, the better ones lower.
static bool limit_simd(const char* name) {
  for (const uint32_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if (std::strcmp(name, hwy::TargetName(target)) != 0) continue;
    hwy::DisableTargets(target - 1);
    return (hwy::SupportedTargets() & target) != 0;
  }
  return false;
}

int main(int argc, char** argv) {
  if (const char* name = std::getenv("LUNAGRAD_SIMD"); name && !limit_simd(name)) {
    std::fprintf(stderr, "LUNAGRAD_SIMD=%s: not a target of this processor\n", name);
    return 2;
  }
  return doctest::Context(argc, argv).run();
}
