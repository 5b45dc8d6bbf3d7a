// Groups with reductions of rows on the GPU have the bits of calls that run one by one.
#include <doctest/doctest.h>

#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/wait_for_shaders.h"
#include "tests/support/row_programs.h"
#include "tests/support/same_bits.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Compares the deferred calls of f with the same calls run eagerly. Returns the number of reductions in
// groups.
template <class F>
size_t compare_deferred(F&& f) {
  const TensorList expected = f();
  CallQueue queue;
  TensorList got;
  {
    const DeferCalls defer(&queue);
    got = f();
    queue.compute();
  }
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("value ", i, " of ", got.size(), "\n", explain(*queue.report()));
    CHECK(same_bits(to(got[i], cpu_device()), to(expected[i], cpu_device())));
  }
  size_t reductions = 0;
  for (const QueueReport::Done& done : queue.report()->calls)
    reductions += done.why == nullptr && done.op->family == OpFamily::reduction;
  return reductions;
}

}  // namespace

TEST_CASE("written-out norms, softmax and losses in groups have the bits of single calls") {
  const WaitForShaders wait;
  const Shape shapes[] = {{9, 2},   {4, 1000},  {3, 5, 63}, {16, 64},  {20, 1},
                          {16, 65}, {17, 1025}, {5, 4097},  {2, 8192}, {1, 300}};
  const DType types[] = {DType::f32, DType::f16, DType::bf16};
  for (int which = 0; which < kWrittenOut; ++which)
    for (size_t s = 0; s < std::size(shapes); ++s)
      for (size_t t = 0; t < std::size(types); ++t) {
        if (!long_run() && (s != size_t(which) % 4 || t != size_t(which) % 3)) continue;
        for (const bool hostile : {false, true}) {
          INFO("program ", which, " ", shapes[s], " ", dtype_name(types[t]), " hostile ", hostile);
          const size_t reductions = compare_deferred([&] {
            context().generator.seed(7);
            return written_out(which, shapes[s], types[t], hostile, tests::gpu());
          });
          const bool only_softmax = which == 5;  // softmax stays alone on a GPU
          if (shapes[s].back() > 1 && shapes[s].back() < 4096 && !only_softmax) CHECK(reductions > 0);
        }
      }
}

TEST_CASE("random programs with reductions of rows in groups have the bits of single calls") {
  const WaitForShaders wait;
  size_t reductions = 0;
  const unsigned programs = long_run() ? 300 : 8;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    INFO("seed ", seed);
    reductions += compare_deferred([&] { return random_row_program(seed, tests::gpu()); });
  }
  CHECK(reductions > programs / 2);
}

TEST_CASE("a norm on the GPU is one dispatch") {
  const WaitForShaders wait;
  const Tensor x = row_numbers({64, 1024}, DType::f32, false, tests::gpu());
  const Tensor w = row_numbers({1024}, DType::bf16, false, tests::gpu());
  CallQueue queue;
  {
    const DeferCalls defer(&queue);
    const Tensor y = x * rsqrt(mean(x * x, {-1}, true) + 1e-6) * w;
    queue.compute();
  }
  CHECK(queue.report()->units == 1);
  CHECK(compare_deferred([&] { return TensorList{x * rsqrt(mean(x * x, {-1}, true) + 1e-6) * w}; }) == 1);
}
