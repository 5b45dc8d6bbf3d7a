// Every op with empty, 0-d and single operands and hostile parameters, on the CPU (samples/hostile_calls.h).
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/core/memory_limit.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "tests/samples/hostile_calls.h"

namespace lunagrad::tests {
namespace {

constexpr size_t kMemory = size_t(256) << 20;

struct Limited {
  Limited() { set_memory_limit({kMemory, nullptr}); }
  ~Limited() { set_memory_limit({}); }
};

// As on a machine of many cores: loops are split into many ranges.
struct ManyThreads {
  ManyThreads() { set_thread_count(16); }
  ~ManyThreads() { set_thread_count(before); }
  const int before = thread_count();
};

TEST_CASE(
    "no call with empty or 0-d operands and hostile numbers crashes, hangs or takes more than its limit") {
  const bool thorough = std::getenv("LUNAGRAD_TEST_ALL") != nullptr;
  const bool trace = std::getenv("LUNAGRAD_TRACE_CALLS") != nullptr;
  const Limited limited;
  const ManyThreads many;
  CallWatch watch(10);
  int calls = 0, results = 0, gradients = 0, stopped = 0;
  for_hostile_calls(thorough, [&](const HostileCall& call) {
    const std::string name = name_of(call);
    if (trace) std::fprintf(stderr, "%s\n", name.c_str());
    const TensorList operands = operands_of(call);
    watch.begin(name);
    HostileResult result;
    try {
      result = run_hostile(call, operands);
    } catch (const std::bad_alloc&) {
      result.error = "bad_alloc";  // a session reports it as out of memory
    } catch (const std::exception& error) {
      CHECK_MESSAGE(false, name << ": " << error.what());
    }
    const bool in_time = watch.end();
    CHECK_MESSAGE(in_time, name << " had to be stopped");
    ++calls;
    stopped += !in_time;
    results += result.error.empty();
    gradients += !result.gradients.empty();
  });
  std::printf("%d hostile calls on the CPU: %d give a result, %d a gradient\n", calls, results, gradients);
}

}  // namespace
}  // namespace lunagrad::tests
