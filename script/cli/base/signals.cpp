#include "script/cli/base/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace lunagrad {
namespace {

constexpr int kAtOnce = 3;
std::atomic<int> received{0};
std::atomic<int> last_signal{0};
std::atomic<int> asked{0};             // checkpoints requested
std::atomic<bool> from_worker{false};  // the only signal counted so far is a SIGUSR2
int wake_file = -1;

void wake_up() {
  const int saved = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_file, &one, sizeof one);
  errno = saved;
}

void count_signal(int signal) {
  if (signal == SIGTERM && from_worker.exchange(false)) return;  // the same request again
  last_signal.store(signal);
  if (received.fetch_add(1) + 1 >= kAtOnce) _exit(128 + signal);
  wake_up();
}

void count_from_worker(int) {
  int none = 0;
  if (!received.compare_exchange_strong(none, 1)) return;
  last_signal.store(SIGTERM);
  from_worker.store(true);
  wake_up();
}

void count_checkpoint(int) {
  asked.fetch_add(1);
  wake_up();
}

}  // namespace

Signals::Signals() {
  wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  reset();
  struct sigaction action {};
  action.sa_handler = count_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
  action.sa_handler = count_checkpoint;
  sigaction(SIGUSR1, &action, &user_);
  action.sa_handler = count_from_worker;
  sigaction(SIGUSR2, &action, &worker_);
}

Signals::~Signals() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
  sigaction(SIGUSR1, &user_, nullptr);
  sigaction(SIGUSR2, &worker_, nullptr);
  close(wake_file);
  wake_file = -1;
}

int Signals::count() const { return received.load(); }
int Signals::checkpoints_asked() const { return asked.load(); }
int Signals::last() const { return last_signal.load(); }

void Signals::reset() {
  received.store(0);
  from_worker.store(false);
  last_signal.store(0);
  asked.store(0);
}

void Signals::wait(double seconds) {
  pollfd file{wake_file, POLLIN, 0};
  poll(&file, 1, seconds < 0 ? -1 : int(std::min(seconds * 1000 + 1, 1e9)));
  uint64_t wakes;
  [[maybe_unused]] const ssize_t size = read(wake_file, &wakes, sizeof wakes);
}

void Signals::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_file, &one, sizeof one);
}

}  // namespace lunagrad
