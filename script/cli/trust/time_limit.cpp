#include "script/cli/trust/time_limit.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "runtime/io/temporary_folder.h"
#include "script/cli/base/runner.h"

namespace lunagrad {
namespace {

constexpr double kUnwind = 2;  // seconds that a cancelled replay has to end

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TimeLimit::TimeLimit(double seconds, std::function<void()> cancel) : end_(seconds > 0 ? now() + seconds : 0) {
  if (seconds > 0) thread_ = std::thread([=, this] { watch(seconds, cancel); });
}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool TimeLimit::passed() const {
  const std::lock_guard lock(mutex_);
  return passed_;
}

double TimeLimit::left() const { return end_ > 0 ? std::max(end_ - now(), 0.001) : 0; }

void TimeLimit::watch(double seconds, const std::function<void()>& cancel) {
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return over_; };
  if (changed_.wait_for(lock, std::chrono::duration<double>(seconds), is_over)) return;
  passed_ = true;
  lock.unlock();
  std::cerr << "lunagrad: time limit reached\n";
  cancel();
  lock.lock();
  if (changed_.wait_for(lock, std::chrono::duration<double>(kUnwind), is_over)) return;
  TemporaryFolder::remove_all();
  _exit(kExitTimeout);
}

}  // namespace lunagrad
