#pragma once
// The engine's one thread pool. Workers spin briefly for the next loop, then sleep. The caller takes part;
// loops inside loops run on the calling thread. Kernels split their work with parallel_for and nothing else.
#include <cstdint>
#include <type_traits>

namespace lunagrad {

int thread_count();                // including the caller; the cores this process may use unless set
void set_thread_count(int count);  // at least 1; not while a loop is running

using RangeFunction = void (*)(void* closure, int64_t begin, int64_t end);
void parallel_for_erased(int64_t count, int64_t grain, RangeFunction, void* closure);

// Calls f(begin, end) on ranges that cover [0, count), each of at least `grain` elements but the last.
// `grain` should be 20 µs of work: loops shorter than two grains run on the caller. Ranges are small enough
// that a request to stop (Context::stop_requested) is honoured within 20 ms: then Error(cancelled). The first
// exception of f is rethrown.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
  using Function = std::remove_reference_t<F>;
  parallel_for_erased(
      count, grain,
      [](void* closure, int64_t begin, int64_t end) { (*static_cast<Function*>(closure))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace lunagrad
