#include "runtime/cpu/parallel.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/waiting.h"
#include "runtime/core/work_times.h"
#include "runtime/system/processor.h"
#include "runtime/system/threads.h"

namespace lunagrad {
namespace {

using Clock = std::chrono::steady_clock;

// An idle worker spins this long for the next loop before it sleeps: the gap between two ops of a training
// step is a few µs; waking a sleeping thread takes about 50 µs.
constexpr auto kSpinTime = std::chrono::microseconds(200);
// A range has at most this many grains of 20 µs: about 5 ms, and less than 20 ms if the estimate is wrong by
// a factor of 4.
constexpr int64_t kMaxGrains = 256;
// Ranges per thread: with small ranges the other threads need not wait for one that is delayed.
constexpr int64_t kRangesPerThread = 8;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

// The threads in OMP_NUM_THREADS, in the forms that other numeric programs read ("4" or "4,2"), else the
// cores.
int default_threads() {
  if (const char* const asked = std::getenv("OMP_NUM_THREADS")) {
    const long count = std::strtol(asked, nullptr, 10);
    if (count >= 1) return int(std::min<long>(count, 1024));
  }
  return usable_cores();
}

// Set while this thread runs a range: nested loops run on this thread.
thread_local bool inside_loop = false;

struct Loop {
  RangeFunction function;
  void* closure;
  int64_t count;
  int64_t step;
  Context* context;
};

// Runs ranges [k * step, …) of the loop until `next` passes its end.
void run_ranges(const Loop& loop, std::atomic<int64_t>& next) {
  for (;;) {
    const int64_t begin = next.fetch_add(loop.step, std::memory_order_relaxed);
    if (begin >= loop.count) return;
    loop.context->check_stop();
    loop.function(loop.closure, begin, std::min(begin + loop.step, loop.count));
  }
}

// The workers and the loop that they share. Never destroyed: workers may access it until the process ends.
//
// `state_` holds the whole protocol: the number of the loop (upper half), whether it is open (bit 31), and
// the number of workers in it. A worker joins an open loop by incrementing the count, and only then reads
// `loop_`. The owner closes the loop when no range is left and waits for the workers in it. A worker that
// wakes too late finds the loop closed, so a sleeping worker never delays a short loop.
class Pool {
 public:
  int size() {
    int size = size_.load(std::memory_order_relaxed);
    if (size == 0) {
      size = default_threads();
      size_.store(size, std::memory_order_relaxed);
    }
    return size;
  }

  void resize(int size) {
    assert(size >= 1 && !inside_loop);
    while (owned_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    leaving_.store(true);
    while (alive_.load() > 0) {
      wake();
      std::this_thread::yield();
    }
    leaving_.store(false);
    started_ = false;
    size_.store(size);
    owned_.store(false, std::memory_order_release);
  }

  // Returns false when another thread is running a loop: then the caller does all the work.
  bool try_run(const Loop& loop) {
    if (owned_.exchange(true, std::memory_order_acquire)) return false;
    if (!started_) start();
    loop_ = loop;
    failure_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    const uint64_t number = (state_.load(std::memory_order_relaxed) >> 32) + 1;
    state_.store(number << 32 | kOpen);
    if (sleepers_.load() > 0) wake();

    take_part();

    state_.fetch_and(~kOpen, std::memory_order_acquire);
    for (int spins = 0; state_.load(std::memory_order_acquire) & kJoined; ++spins)
      spins < 4096 ? pause() : std::this_thread::yield();
    const std::exception_ptr failure = std::move(failure_);
    failure_ = nullptr;
    owned_.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
    return true;
  }

  // A forked child has only the calling thread.
  void after_fork() {
    state_.store(0);
    sleepers_.store(0);
    alive_.store(0);
    owned_.store(false);
    started_ = false;
    inside_loop = false;
  }

 private:
  static constexpr uint64_t kOpen = 1ull << 31;
  static constexpr uint64_t kJoined = kOpen - 1;

  void start() {
    started_ = true;
    for (int i = 1; i < size(); ++i) {
      alive_.fetch_add(1);
      try {
        std::thread([this, i] { work(i - 1); }).detach();
      } catch (const std::system_error&) {  // the system has no more threads: fewer workers, same result
        alive_.fetch_sub(1);
        return;
      }
    }
  }

  void wake() {
    wakeups_.fetch_add(1);
    wakeups_.notify_all();
  }

  void take_part() {
    inside_loop = true;
    try {
      run_ranges(loop_, next_);
    } catch (...) {
      if (!failed_.exchange(true)) failure_ = std::current_exception();
      next_.store(loop_.count, std::memory_order_relaxed);  // the others stop before their next range
    }
    inside_loop = false;
  }

  void work(int index) {
    uint64_t last = 0;
    while (!leaving_.load(std::memory_order_relaxed)) {
      uint64_t state = find_loop(last);
      if (!(state & kOpen)) continue;
      if (!state_.compare_exchange_strong(state, state + 1, std::memory_order_acquire)) continue;
      last = state >> 32;
      {
        const UseContext use(*loop_.context);
        const HelperSpan span(loop_.context, Helper::pool, index);
        take_part();
      }
      state_.fetch_sub(1, std::memory_order_release);
    }
    alive_.fetch_sub(1);
  }

  // Waits for an open loop other than `last` and returns the state. Also returns when the worker must check
  // for a change.
  uint64_t find_loop(uint64_t last) {
    const auto is_new = [last](uint64_t state) { return (state & kOpen) && state >> 32 != last; };
    const auto deadline = Clock::now() + kSpinTime;
    do {
      for (int i = 0; i < 64; ++i) {
        const uint64_t state = state_.load(std::memory_order_relaxed);
        if (is_new(state)) return state;
        pause();
      }
    } while (Clock::now() < deadline);
    sleepers_.fetch_add(1);
    const uint32_t wakeups = wakeups_.load();
    const uint64_t state = state_.load();
    if (!is_new(state) && !leaving_.load()) wakeups_.wait(wakeups);
    sleepers_.fetch_sub(1);
    return is_new(state) ? state : 0;
  }

  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<uint32_t> wakeups_{0};
  std::atomic<int> size_{0}, alive_{0};
  std::atomic<bool> leaving_{false};
  std::atomic<bool> owned_{false};  // a thread is running a loop; only that thread accesses the fields below
  bool started_ = false;
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
  Loop loop_{};
};

Pool& pool() {
  static Pool* const instance = [] {
    static Pool* made = new Pool;
    call_after_fork([] { made->after_fork(); });
    return made;
  }();
  return *instance;
}

HostThreads host_threads;

// A loop on the threads of the program. The caller finishes what they left.
void run_on_host(const Loop& loop) {
  struct Shared {
    const Loop& loop;
    std::atomic<int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};
  } shared{loop};
  const auto take_part = [](void* data, int32_t) {
    Shared& own = *static_cast<Shared*>(data);
    const UseContext use(*own.loop.context);
    inside_loop = true;
    try {
      run_ranges(own.loop, own.next);
    } catch (...) {
      if (!own.failed.exchange(true)) own.failure = std::current_exception();
      own.next.store(own.loop.count, std::memory_order_relaxed);
    }
    inside_loop = false;
  };
  host_threads.run(host_threads.user, take_part, &shared, int32_t(host_threads.count));
  take_part(&shared, 0);
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace

int thread_count() { return host_threads.run ? host_threads.count : pool().size(); }

void use_host_threads(const HostThreads& threads) { host_threads = threads; }

void set_thread_count(int count) {
  if (count < 1) fail("set_thread_count: at least 1 thread is needed (got ", count, ")");
  pool().resize(count);
}

void parallel_for_erased(int64_t count, int64_t grain, RangeFunction function, void* closure) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (count < 2 * grain) return function(closure, 0, count);
  // The loop may read results of deferred calls: its threads could not compute them.
  if (waiting_queue) [[unlikely]]
    compute_waiting_calls();

  // The ranges depend only on the sizes, not on which thread runs them: sums over ranges are reproducible.
  const int threads = thread_count();
  const int64_t longest = grain > INT64_MAX / kMaxGrains ? count : grain * kMaxGrains;
  int64_t step = (count + threads * kRangesPerThread - 1) / (threads * kRangesPerThread);
  if (threads == 1) step = longest;
  step = std::clamp(step, grain, longest);
  if (step >= 64) step = (step + 63) / 64 * 64;  // whole cache lines for any element size

  const Loop loop{function, closure, count, step, &context()};
  if (threads > 1 && !inside_loop) {
    if (host_threads.run) return run_on_host(loop);
    if (pool().try_run(loop)) return;
  }
  std::atomic<int64_t> next{0};
  run_ranges(loop, next);
}

}  // namespace lunagrad
