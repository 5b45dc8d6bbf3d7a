#pragma once
// The engine's thread pool; there is one per process. Workers spin briefly for the next loop, then sleep. The
// caller takes part; nested loops run on the calling thread. Kernels divide their work only with
// parallel_for.
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace lunagrad {

int thread_count();                // including the caller; default: the cores that this process may use
void set_thread_count(int count);  // at least 1; call it while no loop is running

// Threads of a program that embeds the engine, which run loops in place of the pool. `run` calls task(data,
// i) once for each i below `count`, on any threads, and returns when all calls have returned; it must not
// throw.
struct HostThreads {
  void (*run)(void* user, void (*task)(void* data, int32_t i), void* data, int32_t count) = nullptr;
  void* user = nullptr;
  int count = 1;
};
void use_host_threads(const HostThreads&);  // `run` is null: the pool again; call it while no loop is running

// The number of iterations, of `work` each, in a range of `grain`. Work below 1 counts as 1.
inline int64_t iterations_in(int64_t grain, int64_t work) {
  return std::max<int64_t>(1, grain / std::max<int64_t>(1, work));
}

using RangeFunction = void (*)(void* closure, int64_t begin, int64_t end);
void parallel_for_erased(int64_t count, int64_t grain, RangeFunction, void* closure);

// Calls f(begin, end) on ranges that cover [0, count), each of at least `grain` elements except the last.
// `grain` should be 20 µs of work: loops shorter than two grains run on the caller. Ranges are small enough
// that a request to stop (Context::stop_requested) raises Error(cancelled) within 20 ms. Rethrows the first
// exception of f.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
  using Function = std::remove_reference_t<F>;
  parallel_for_erased(
      count, grain,
      [](void* closure, int64_t begin, int64_t end) { (*static_cast<Function*>(closure))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace lunagrad
