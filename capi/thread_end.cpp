// Destructors of thread-local variables, without memory of their own. glibc allocates a record for each, and
// ends the process when that fails: a call of the C library must not. The compiler calls the function below
// for each variable; here a thread has a fixed table, which a key of POSIX threads runs at the thread's end.
// At the end of the process the variables of the main thread are left to the system.
#include <pthread.h>

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*) noexcept;  // glibc

namespace {

struct Destructor {
  void (*run)(void*);
  void* object;
};
constexpr int kMost = 24;  // twice as many as the library registers
[[gnu::tls_model("initial-exec")]] constinit thread_local Destructor destructors[kMost] = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local int count = 0;
pthread_key_t key;

// The latest first. A destructor may register another one.
void run_all(void*) {
  while (count > 0) {
    const Destructor last = destructors[--count];
    last.run(last.object);
  }
}

}  // namespace

extern "C" int __cxa_thread_atexit(void (*run)(void*), void* object, void* library) noexcept {
  static const bool made = pthread_key_create(&key, run_all) == 0;
  if (!made || count == kMost || pthread_setspecific(key, &count) != 0)
    return __cxa_thread_atexit_impl(run, object, library);
  destructors[count++] = {run, object};
  return 0;
}
