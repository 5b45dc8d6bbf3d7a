// The engine at the ends of its types against answers of higher precision: see tests/samples/ends.h.
#include <doctest/doctest.h>

#include <cstdio>

#include "folders.h"
#include "tests/samples/ends.h"

namespace lunagrad::tests {
namespace {

TEST_CASE("every op has the exact values and gradients at the ends of its types") {
  const EndsReport report = compare_ends(LUNAGRAD_SOURCE_DIR, cpu_device(), 1, true, true);
  CHECK_MESSAGE(report.differences.empty(), describe(report));
  CHECK_MESSAGE(report.unused.empty(), describe(report));
  for (const std::string& wrong : ops_without_ends(LUNAGRAD_SOURCE_DIR, report.ops))
    CHECK_MESSAGE(false, wrong);
  std::printf("%zu elements of %zu cases of %zu ops\n", report.elements, report.cases, report.ops.size());
}

}  // namespace
}  // namespace lunagrad::tests
