// The Vulkan device at the ends of its types against answers of higher precision: see tests/samples/ends.h.
#include <cstdio>

#include "tests/gpu/compare.h"
#include "tests/samples/ends.h"

namespace lunagrad::tests {
namespace {

// Mesa's CPU driver takes minutes to compile all pipelines; LUNAGRAD_TEST_ALL=1 compares every case.
TEST_CASE("ops on the device have the exact values and gradients at the ends of f32") {
  const size_t apart = std::getenv("LUNAGRAD_TEST_ALL") ? 1 : 16;
  const EndsReport report = compare_ends(source_file("."), gpu(), apart, false, has_denormals());
  CHECK_MESSAGE(report.differences.empty(), describe(report));
  CHECK_MESSAGE(report.unused.empty(), describe(report));
  std::printf("%zu elements of %zu cases\n", report.elements, report.cases);
}

}  // namespace
}  // namespace lunagrad::tests
