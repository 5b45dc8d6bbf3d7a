#include "ui/errands.h"

#include <exception>
#include <utility>

namespace lunagrad {

Errands::Errands(std::function<void()> wake) : wake_(std::move(wake)) {}

Errands::~Errands() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Errands::add(std::function<void()> work, std::function<void(const std::string&)> done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(work), std::move(done), {}});
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

bool Errands::update() {
  std::vector<Errand> finished;
  {
    const std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (const Errand& errand : finished) errand.done(errand.problem);
  return !finished.empty();
}

void Errands::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Errand errand = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      errand.work();
    } catch (const std::exception& error) {
      errand.problem = error.what();
    }
    errand.work = nullptr;  // what it held may be large
    lock.lock();
    finished_.push_back(std::move(errand));
    lock.unlock();
    if (wake_) wake_();
    lock.lock();
  }
}

}  // namespace lunagrad
