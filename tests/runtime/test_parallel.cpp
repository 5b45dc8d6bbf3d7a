// The thread pool: every element exactly once, stops, exceptions, nested loops, two callers at once.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/cpu/parallel.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;

namespace {

struct ThreadCount {
  explicit ThreadCount(int count) : previous(thread_count()) { set_thread_count(count); }
  ~ThreadCount() { set_thread_count(previous); }
  int previous;
};

int64_t sum_over_ranges(int64_t count, int64_t grain) {
  std::atomic<int64_t> sum{0};
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    int64_t part = 0;
    for (int64_t i = begin; i < end; ++i) part += i;
    sum += part;
  });
  return sum;
}

}  // namespace

TEST_CASE("parallel_for visits every element exactly once for any count, grain and number of threads") {
  for (int threads : {1, 2, 3, 8}) {
    const ThreadCount use(threads);
    for (int64_t count : {0, 1, 2, 63, 64, 65, 1000, 4097})
      for (int64_t grain : {1, 7, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
        parallel_for(count, grain, [&](int64_t begin, int64_t end) {
          REQUIRE(begin < end);
          for (int64_t i = begin; i < end; ++i) ++visits[size_t(i)];
        });
        for (const auto& visit : visits) REQUIRE(visit == 1);
      }
  }
}

TEST_CASE("parallel_for really uses the workers") {
  const ThreadCount use(3);
  // The first range waits for a second one to begin, which only another thread can do.
  std::atomic<int> begun{0};
  bool met = false;
  parallel_for(64, 1, [&](int64_t, int64_t) {
    if (++begun == 1) met = tests::eventually([&] { return begun >= 2; });
  });
  CHECK(met);
}

TEST_CASE("a nested loop runs on the same thread and is complete") {
  const ThreadCount use(3);
  std::atomic<int64_t> sum{0};
  parallel_for(32, 1, [&](int64_t begin, int64_t end) {
    const auto self = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i)
      parallel_for(100, 1, [&](int64_t from, int64_t to) {
        REQUIRE(std::this_thread::get_id() == self);
        sum += to - from;
      });
  });
  CHECK(sum == 3200);
}

TEST_CASE("the first exception of a loop reaches the caller, and the pool stays usable") {
  const ThreadCount use(3);
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS_WITH_AS(parallel_for(1000, 1,
                                      [](int64_t begin, int64_t end) {
                                        if (begin <= 500 && 500 < end) fail("range holds 500");
                                      }),
                         "range holds 500", Error);
    CHECK(sum_over_ranges(1000, 1) == 499500);
  }
}

TEST_CASE("a request to stop ends a loop within its ranges") {
  for (int threads : {1, 3}) {
    const ThreadCount use(threads);
    Context own;
    const UseContext current(own);
    std::atomic<int64_t> done{0};
    std::thread user([&] {
      tests::eventually([&] { return done >= 1000; });
      own.stop_requested = true;
    });
    std::atomic<int64_t> longest{0};
    try {
      parallel_for(100000, 1, [&](int64_t begin, int64_t end) {
        for (int64_t seen = longest;
             seen < end - begin && !longest.compare_exchange_weak(seen, end - begin);) {
        }
        if (done >= 1000) tests::eventually([&] { return own.stop_requested.load(); });
        done += end - begin;
      });
      FAIL("the loop was not cancelled");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::cancelled);
    }
    user.join();
    // Each thread is in a range when the 1,000th element is done, and takes at most one more before the stop.
    CHECK(longest <= 256);
    CHECK(done < 1000 + 2 * threads * longest);
  }
}

TEST_CASE("kernels on workers see the caller's context") {
  const ThreadCount use(3);
  Context own;
  const UseContext current(own);
  std::atomic<int> wrong{0};
  parallel_for(1000, 1, [&](int64_t, int64_t) { wrong += &context() != &own; });
  CHECK(wrong == 0);
}

TEST_CASE("two threads may run loops at the same time") {
  const ThreadCount use(3);
  std::atomic<bool> right{true};
  const auto caller = [&] {
    for (int i = 0; i < 300; ++i)
      if (sum_over_ranges(2000, 10) != 1999000) right = false;
  };
  std::thread other(caller);
  caller();
  other.join();
  CHECK(right);
}

TEST_CASE("the pool can be resized repeatedly") {
  for (int round = 0; round < 10; ++round) {
    const ThreadCount use(1 + round % 4);
    CHECK(thread_count() == 1 + round % 4);
    CHECK(sum_over_ranges(5000, 10) == 12497500);
  }
  CHECK_THROWS_WITH(set_thread_count(0), "set_thread_count: at least 1 thread is needed (got 0)");
}

TEST_CASE("a forked child has its own working pool" * doctest::skip(tests::kThreadSanitizer)) {
  const ThreadCount use(3);
  CHECK(sum_over_ranges(5000, 10) == 12497500);
  const pid_t child = fork();
  if (child == 0) _exit(sum_over_ranges(5000, 10) == 12497500 ? 7 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_SUITE_END();
