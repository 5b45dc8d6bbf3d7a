#pragma once
// A request from the drawing thread whose answer comes from another thread. The drawing thread never waits:
// it reads the latest answer to the latest request. A new request, and forget(), stop the previous one.
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace lunagrad {

template <class T>
class Awaited {
 public:
  // `wake` is called on the answering thread when an answer arrives.
  explicit Awaited(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
  }
  ~Awaited() { stop_.request_stop(); }
  Awaited(const Awaited&) = delete;

  // Starts a request and returns the function that takes its answer. get() returns the previous answer until
  // then.
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
  std::stop_token stop_token() const { return stop_.get_token(); }  // the latest request's token
  void cancel() { stop_.request_stop(); }                           // asks the answering thread to stop
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
  // The answer; returns it only once.
  std::shared_ptr<const T> take() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->answer, nullptr);
  }

 private:
  struct Shared {  // kept alive by the callbacks, longer than this object
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
