// The test program. LUNAGRAD_SIMD=SSE4 (AVX2, AVX3) runs everything with the kernels of that target.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/cpu/simd_targets.h"

// Restricts the choice to the named target and those below it. Targets are bits, the better ones lower.
// Returns the exit code: 77, which means skipped, where the processor or the build lacks the target.
static int limit_simd(const char* name) {
  for (const uint32_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if (std::strcmp(name, hwy::TargetName(target)) != 0) continue;
    hwy::DisableTargets(target - 1);
    const int64_t targets = lunagrad::supported_simd_targets();
    const bool has = targets & target, compiled = HWY_TARGETS & target;
    if (has && compiled) return 0;
    std::fprintf(stderr, "skipped: this %s has no %s\n", has ? "build" : "processor", name);
    return 77;
  }
  std::fprintf(stderr, "LUNAGRAD_SIMD=%s: the targets are SSE4, AVX2 and AVX3\n", name);
  return 2;
}

int main(int argc, char** argv) {
  if (const char* name = std::getenv("LUNAGRAD_SIMD"))
    if (const int code = limit_simd(name)) return code;
  // Tests use a key of their own instead of the user's. Programs that they start use it, too.
  const std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  setenv("XDG_DATA_HOME", (build / "data-home").c_str(), 1);
  return doctest::Context(argc, argv).run();
}
