// A library for LD_PRELOAD that makes Mesa's CPU driver compute without subnormal numbers, like GPU drivers
// that lack DenormPreserve: the driver's threads read them as 0 and return 0 in their place. Replaces
// pthread_create.
#include <dlfcn.h>
#include <pmmintrin.h>
#include <pthread.h>

#include <cstring>

namespace {

struct Start {
  void* (*run)(void*);
  void* argument;
};

void* run_flushing(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  return start.run(start.argument);
}

bool belongs_to_driver(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) && info.dli_fname && std::strstr(info.dli_fname, "vulkan_lvp");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*run)(void*), void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static Create* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!belongs_to_driver(reinterpret_cast<void*>(run))) return create(thread, attributes, run, argument);
  Start* const start = new Start{run, argument};
  const int failed = create(thread, attributes, run_flushing, start);
  if (failed) delete start;
  return failed;
}
