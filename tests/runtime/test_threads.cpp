// A tensor belongs to the thread that made it; builds other than release find a second thread.
#include <doctest/doctest.h>

#ifdef LUNAGRAD_CHECK_THREADS

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "runtime/ops.h"

using namespace lunagrad;

namespace {

// How a child process that runs f ends.
template <class F>
int status_of(const F& f) {
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
  const int used = status_of([&] { std::thread([&] { const Tensor again = x; }).join(); });
  CHECK(WIFSIGNALED(used));
  const int own = status_of([&] { std::thread([] { const Tensor y = ones({3}), again = y; }).join(); });
  CHECK(WIFEXITED(own));
  CHECK(WEXITSTATUS(own) == 0);
}

#endif
