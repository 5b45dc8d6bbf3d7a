#pragma once
// An answer that comes from another thread, for a drawing thread that asks and looks but never waits: the
// latest one that belongs to the latest question. Asking again, or forgetting, stops the question before.
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace lunagrad {

template <class T>
class Awaited {
 public:
  // `wake` is called on the answering thread when an answer is there.
  explicit Awaited(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
  }
  ~Awaited() { stop_.request_stop(); }
  Awaited(const Awaited&) = delete;

  // What is to be called with the answer. The answer before is shown until then.
  std::function<void(T)> ask() {
    stop_.request_stop();
    stop_ = std::stop_source();
    const std::lock_guard lock(shared_->mutex);
    shared_->waiting = true;
    return [shared = shared_, number = ++shared_->number](T answer) {
      {
        const std::lock_guard its_lock(shared->mutex);
        if (shared->number != number) return;
        shared->answer = std::make_shared<const T>(std::move(answer));
        shared->waiting = false;
      }
      shared->wake();
    };
  }
  std::stop_token stop_token() const { return stop_.get_token(); }  // of the latest question
  void cancel() { stop_.request_stop(); }                           // whoever answers should come to an end
  void forget() {
    stop_.request_stop();
    const std::lock_guard lock(shared_->mutex);
    ++shared_->number;
    shared_->waiting = false;
    shared_->answer = nullptr;
  }
  bool waiting() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->waiting;
  }
  std::shared_ptr<const T> get() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->answer;
  }
  // The answer, once.
  std::shared_ptr<const T> take() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->answer, nullptr);
  }

 private:
  struct Shared {  // outlives this object in callbacks
    mutable std::mutex mutex;
    uint64_t number = 0;
    bool waiting = false;
    std::shared_ptr<const T> answer;
    std::function<void()> wake;
  };
  std::shared_ptr<Shared> shared_;
  std::stop_source stop_;
};

}  // namespace lunagrad
