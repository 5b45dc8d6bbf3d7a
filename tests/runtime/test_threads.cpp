// Any number of threads gives the same results. A tensor belongs to the thread that made it; builds other
// than release detect use by a second thread.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iterator>
#include <thread>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "tests/samples/hostile_calls.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// The largest difference of two tensors, relative to the largest element.
double difference(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return INFINITY;
  if (!a.defined()) return 0;
  if (!(a.shape() == b.shape())) return INFINITY;
  const auto x = numbers_of(a), y = numbers_of(b);
  double largest = 0, scale = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    largest = std::max(largest, std::isfinite(x[i] - y[i]) ? std::abs(x[i] - y[i]) : INFINITY);
    scale = std::max(scale, std::abs(y[i]));
  }
  return largest / scale;
}

}  // namespace

TEST_CASE("every op and its gradients are the same with 1, 2, 16 and 61 threads") {
  const int before = thread_count();
  for (const Sample& sample : samples()) {
    if (sample.op.starts_with("empty")) continue;
    const HostileCall call{find_op(sample.op), sample.inputs, complete(*find_op(sample.op), sample.params)};
    INFO(name_of(call));
    HostileResult expected;
    for (const int threads : {1, 2, 16, 61}) {
      set_thread_count(threads);
      context().generator.seed(7);
      const HostileResult got = run_hostile(call, operands_of(call));
      if (threads == 1) {
        expected = got;
        continue;
      }
      INFO(threads, " threads");
      CHECK(got.error == expected.error);
      CHECK(got.gradient_error == expected.gradient_error);
      REQUIRE(got.outputs.size() == expected.outputs.size());
      for (size_t i = 0; i < got.outputs.size(); ++i)
        CHECK(difference(got.outputs[i], expected.outputs[i]) < 1e-5);
      REQUIRE(got.gradients.size() == expected.gradients.size());
      for (size_t i = 0; i < got.gradients.size(); ++i)
        CHECK(difference(got.gradients[i], expected.gradients[i]) < 1e-5);
    }
  }
  set_thread_count(before);
}

#ifdef LUNAGRAD_CHECK_THREADS

namespace {

// The exit status of a child process that runs f.
template <class F>
int exit_status(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    close(STDERR_FILENO);
    f();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a tensor that two threads use ends the program") {
  const Tensor x = ones({3});
  const int used = exit_status([&] { std::thread([&] { const Tensor again = x; }).join(); });
  CHECK(WIFSIGNALED(used));
  const int own = exit_status([&] { std::thread([] { const Tensor y = ones({3}), again = y; }).join(); });
  CHECK(WIFEXITED(own));
  CHECK(WEXITSTATUS(own) == 0);
}

#endif

TEST_CASE("a thread takes the blocks of threads that have ended") {
  constexpr size_t kBytes = 480;
  constexpr int kBlocks = 5000;  // more than the threads of other tests leave
  const auto blocks_of_a_thread = [] {
    std::vector<void*> blocks;
    std::thread([&] {
      for (int i = 0; i < kBlocks; ++i) blocks.push_back(pool_allocate(kBytes));
      for (void* const block : blocks) pool_free(block, kBytes);
    }).join();
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  };
  blocks_of_a_thread();
  const std::vector<void*> first = blocks_of_a_thread();
  for (int i = 0; i < 5; ++i) {
    const std::vector<void*> next = blocks_of_a_thread();
    std::vector<void*> both;
    std::set_intersection(first.begin(), first.end(), next.begin(), next.end(), std::back_inserter(both));
    CHECK(both.size() > kBlocks * 9 / 10);
  }
}
