// A library for LD_PRELOAD that breaks one of the walls around a sandboxed script, as the environment asks:
//   TRUSTED_FOLDER=F  each path lies in F once links are resolved, so checks of resolved paths pass
//   NO_LANDLOCK=1     the kernel has no Landlock
//   TRY_CALLS=1       the first look at a path tries calls that a sandbox refuses; results go to stderr
// Replaces realpath and syscall.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr long kCreateRuleset = 444;

void try_calls() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  std::fprintf(stderr, "socket: %s\n", file < 0 ? std::strerror(errno) : "made");
  const pid_t child = fork();
  if (child == 0) _exit(0);
  std::fprintf(stderr, "fork: %s\n", child < 0 ? std::strerror(errno) : "made");
  if (child > 0) waitpid(child, nullptr, 0);
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) char* realpath(const char* path, char* resolved) {
  static bool tried = std::getenv("TRY_CALLS") == nullptr;
  // Waits for a path of the sandboxed script: before the sandbox starts, the program resolves its own paths.
  if (!tried && std::strstr(path, "wanted")) {
    tried = true;
    try_calls();
  }
  const char* const folder = std::getenv("TRUSTED_FOLDER");
  if (!folder) return next<char* (*)(const char*, char*)>("realpath")(path, resolved);
  if (!resolved) resolved = static_cast<char*>(std::malloc(PATH_MAX));
  if (resolved) std::strncpy(resolved, folder, PATH_MAX);
  return resolved;
}

extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) {
  va_list given;
  va_start(given, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(given, long);
  va_end(given);
  if (number == kCreateRuleset && std::getenv("NO_LANDLOCK")) {
    errno = ENOSYS;
    return -1;
  }
  return next<long (*)(long, ...)>("syscall")(number, arguments[0], arguments[1], arguments[2], arguments[3],
                                              arguments[4], arguments[5]);
}
