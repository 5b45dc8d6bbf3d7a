// A library for LD_PRELOAD that makes allocations fail: FAIL_AT=n the n-th of the process, FAIL_FROM=n that
// and all later ones. Replaces malloc, calloc and realloc; operator new calls malloc.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

static std::atomic<long> done{0};
static std::atomic<long> at{-1}, from{-1};

__attribute__((constructor(101))) static void read_environment() {
  if (const char* const text = getenv("FAIL_AT")) at = strtol(text, nullptr, 10);
  if (const char* const text = getenv("FAIL_FROM")) from = strtol(text, nullptr, 10);
}

static bool fails() {
  const long number = ++done;
  if (number != at && (from < 0 || number < from)) return false;
  errno = ENOMEM;
  return true;
}

void* malloc(size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails() ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* block, size_t bytes) { return fails() ? nullptr : __libc_realloc(block, bytes); }
}
