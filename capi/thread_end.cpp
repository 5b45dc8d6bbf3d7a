// Destructors of thread-local variables, without memory of their own. glibc allocates a record for each, and
// ends the process when that fails: a call of the C library must not. The compiler calls the function below
// for each variable; here a thread has a fixed table, which a key of POSIX threads runs at the thread's end.
// At the end of the process the variables of the main thread are left to the system. The table has distances
// in place of addresses: it lies in the room that glibc keeps for libraries which are loaded later.
#include <pthread.h>

#include <cstdint>

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*) noexcept;  // glibc
extern "C" int __cxa_thread_atexit(void (*run)(void*), void* object, void* library) noexcept;

namespace {

struct Destructor {
  int32_t run;     // bytes from code_place()
  int32_t object;  // bytes from the table: variables of a thread and a library are neighbours
};
constexpr int kMost = 16;  // the library registers 11
[[gnu::tls_model("initial-exec")]] constinit thread_local Destructor destructors[kMost] = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local int count = 0;
pthread_key_t key;

intptr_t code_place() { return reinterpret_cast<intptr_t>(&__cxa_thread_atexit); }
intptr_t table_place() { return reinterpret_cast<intptr_t>(&destructors); }
bool fits(intptr_t distance) { return distance == int32_t(distance); }

// The latest first. A destructor may register another one.
void run_all(void*) {
  while (count > 0) {
    const Destructor last = destructors[--count];
    const auto run = reinterpret_cast<void (*)(void*)>(code_place() + last.run);
    run(reinterpret_cast<void*>(table_place() + last.object));
  }
}

}  // namespace

extern "C" int __cxa_thread_atexit(void (*run)(void*), void* object, void* library) noexcept {
  static const bool made = pthread_key_create(&key, run_all) == 0;
  const intptr_t to_run = reinterpret_cast<intptr_t>(run) - code_place();
  const intptr_t to_object = reinterpret_cast<intptr_t>(object) - table_place();
  if (!made || count == kMost || !fits(to_run) || !fits(to_object) || pthread_setspecific(key, &count) != 0)
    return __cxa_thread_atexit_impl(run, object, library);
  destructors[count++] = {int32_t(to_run), int32_t(to_object)};
  return 0;
}
