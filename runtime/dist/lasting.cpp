// Messages between ranks, and a window's world, which lasts over several runs.
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "runtime/core/error.h"
#include "runtime/dist/the_transfer_thread.h"
#include "runtime/dist/world.h"

namespace lunagrad::dist {
namespace {

constexpr const char* kEnded = "distributed: the run has ended on the other ranks; start it again";
// Kinds of messages: text for the window's console, a warning that rank 0 has printed.
constexpr char kWords = 't', kWarning = 'w';
constexpr char kEnd = 'E';  // a message that ends the other ranks of a window

// Never destroyed: its thread lives until close_world.
std::atomic<TransferThread*> transfer_thread{nullptr};

struct Post {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::pair<int, std::string>> early;  // sent before there was a world
  // held while a taker runs: on_message(kind, null) returns when no taker runs any more
  std::mutex takers_mutex;
  std::array<std::function<void(int, const std::string&)>, 128> takers;
  std::string order;                              // rank 0: for the next run
  std::deque<std::optional<std::string>> orders;  // received orders; nullopt: the window is closed
};

Post& post() {
  static auto* const made = new Post;
  return *made;
}

void put_order(std::optional<std::string> order) {
  const std::lock_guard lock(post().mutex);
  post().orders.push_back(std::move(order));
  post().arrived.notify_all();
}

// Runs on the transfer thread.
void take_message(int from, const std::string& message) {
  if (message.empty()) return;
  if (message[0] == 'r') return put_order(message.substr(1));
  if (message[0] == kEnd) return put_order(std::nullopt);
  const std::lock_guard lock(post().takers_mutex);
  if (const auto& taker = post().takers[size_t(message[0]) & 127]) taker(from, message.substr(1));
}

}  // namespace

TransferThread* the_transfer_thread() { return transfer_thread.load(); }

void make_transfer_thread(TransferThreadOptions options) {
  options.mail = take_message;
  auto* const made = new TransferThread(std::move(options));
  const std::lock_guard lock(post().mutex);
  transfer_thread.store(made);
  for (auto& [to, message] : post().early) made->send(to, std::move(message));
  post().early.clear();
}

void send_message(int to, std::string message) {
  const std::lock_guard lock(post().mutex);
  if (TransferThread* const world = the_transfer_thread())
    world->send(to, std::move(message));
  else if (launched_size() > 1)
    post().early.emplace_back(to, std::move(message));
}

void on_message(char kind, std::function<void(int, const std::string&)> taker) {
  const std::lock_guard lock(post().takers_mutex);
  post().takers[size_t(kind) & 127] = std::move(taker);
}

void tell_warning(const std::string& warning) { send_message(-1, kWarning + warning); }
void on_warning(std::function<void(const std::string&)> take) {
  if (!take) return on_message(kWarning, nullptr);
  on_message(kWarning, [take = std::move(take)](int, const std::string& warning) { take(warning); });
}

bool lasts() {
  static const bool on = std::getenv(kLastingVariable) && launched_size() > 1;
  return on;
}

bool leads() { return lasts() && launched_rank() == 0; }

void set_order(std::string order) {
  if (TransferThread* const world = the_transfer_thread()) world->forget_reason(kEnded);
  const std::lock_guard lock(post().mutex);
  post().order = std::move(order);
}

std::optional<std::string> await_order() {
  std::unique_lock lock(post().mutex);
  post().arrived.wait(lock, [] { return !post().orders.empty(); });
  std::optional<std::string> order = std::move(post().orders.back());  // the latest counts
  post().orders.clear();
  if (order) the_transfer_thread()->join();
  return order;
}

bool order_waits() {
  const std::lock_guard lock(post().mutex);
  return !post().orders.empty();
}

bool window_closed() {
  const std::lock_guard lock(post().mutex);
  return !post().orders.empty() && !post().orders.back();
}

void begin_lasting_run(double patience) {
  TransferThread& world = *the_transfer_thread();
  if (leads()) {
    std::string order;
    {
      const std::lock_guard lock(post().mutex);
      order = post().order;
    }
    world.renew(std::move(order));
  }
  world.set_patience(patience);
}

void close_window_world() { send_message(-1, std::string(1, kEnd)); }

void hold(bool on) {
  if (lasts() && the_transfer_thread()) the_transfer_thread()->hold(on);
}

bool is_called_off() { return the_transfer_thread() && the_transfer_thread()->is_off(); }
std::string failed_rank() {
  const std::string reason = leads() && the_transfer_thread() ? the_transfer_thread()->off_reason() : "";
  return reason.starts_with("rank ") ? reason : "";
}
void tell_window(const std::string& words) { send_message(0, kWords + words); }
void on_words(std::function<void(const std::string&)> take) {
  if (!take) return on_message(kWords, nullptr);
  on_message(kWords, [take = std::move(take)](int, const std::string& words) { take(words); });
}

void end_run() {
  if (!lasts() || !is_world_open()) return;
  // Two meetings: in the first a rank sees whether a transfer is unfinished; then it does not come to the
  // second.
  for (const char* const what : {"end of the script", "end of the transfers"}) {
    const auto job = std::make_shared<Job>();
    job->kind = Kind::meeting;
    job->op = "end";
    job->what = what;
    job->place = "at the end of the script";
    the_transfer_thread()->post(job);
    the_transfer_thread()->wait(*job);
  }
  the_transfer_thread()->retire(kEnded);
}

void fail_run(const std::string& reason) {
  if (!lasts() || !the_transfer_thread()) return;
  if (leads()) {
    the_transfer_thread()->call_off_at(-1, "distributed: the run of rank 0 has ended");
  } else {
    if (is_called_off() || order_waits()) return;
    the_transfer_thread()->call_off_at(0, text("rank ", launched_rank(), ": ", reason));
  }
  the_transfer_thread()->call_off(kEnded);
}

}  // namespace lunagrad::dist
