// Random programs over all ops give the same bits and errors when their calls are deferred.
#include <doctest/doctest.h>

#include "runtime/deferral/defer.h"
#include "tests/samples/random_program.h"
#include "tests/support/same_bits.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("random programs over all ops give the same bits and errors when their calls are deferred") {
  size_t calls = 0, in_groups = 0, gradients = 0;
  const unsigned programs = long_run() ? 2000 : 150;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    INFO("seed ", seed);
    const ProgramResult expected = run_random_program(seed, cpu_device());
    CallQueue queue;
    ProgramResult got;
    {
      const DeferCalls defer(&queue);
      got = run_random_program(seed, cpu_device());
      queue.compute();
    }
    CHECK(got.errors == expected.errors);
    REQUIRE(got.calls == expected.calls);
    for (size_t i = 0; i < got.values.size(); ++i) {
      INFO("value ", i, ", ", got.calls[i]);
      CHECK(same_bits(got.values[i], expected.values[i]));
      gradients += got.calls[i] == "a gradient";
    }
    for (const QueueReport::Done& done : queue.report()->calls) in_groups += done.why == nullptr;
    calls += queue.report()->calls.size();
  }
  MESSAGE(calls, " calls were deferred, ", in_groups, " of them in groups; ", gradients, " gradients");
  CHECK(in_groups > 5 * programs);
  CHECK(gradients > programs);
}
