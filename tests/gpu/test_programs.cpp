// Random programs over all ops have the same bits on the GPU when their calls are deferred.
#include <doctest/doctest.h>

#include "runtime/deferral/defer.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/wait_for_shaders.h"
#include "tests/samples/random_program.h"
#include "tests/support/same_bits.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

TEST_CASE("random programs over all ops have the same bits on the GPU when their calls are deferred") {
  const WaitForShaders wait;
  size_t calls = 0, in_groups = 0;
  const unsigned programs = long_run() ? 1000 : 12;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    INFO("seed ", seed);
    const ProgramResult expected = run_random_program(seed, gpu());
    CallQueue queue;
    ProgramResult got;
    {
      const DeferCalls defer(&queue);
      got = run_random_program(seed, gpu());
      queue.compute();
    }
    CHECK(got.errors == expected.errors);
    REQUIRE(got.calls == expected.calls);
    for (size_t i = 0; i < got.values.size(); ++i) {
      INFO("value ", i, ", ", got.calls[i]);
      CHECK(same_bits(to(got.values[i], cpu_device()), to(expected.values[i], cpu_device())));
    }
    for (const QueueReport::Done& done : queue.report()->calls) in_groups += done.why == nullptr;
    calls += queue.report()->calls.size();
  }
  MESSAGE(calls, " calls were deferred, ", in_groups, " of them in groups");
  CHECK(in_groups > programs);
}

}  // namespace
}  // namespace lunagrad::tests
