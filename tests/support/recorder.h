#pragma once
// A session whose events are kept, for tests of sessions. The events arrive on the session's thread; the
// other functions are for the test's thread.
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {

class Recorder {
 public:
  Recorder() : session([this](const Event& event) { keep(event); }) {}

  void run(const std::string& code, RunOptions options = {}) {
    options.write_run = false;
    session.run_text(code, "test", options);
  }
  Outcome finish(const std::string& code, RunOptions options = {}) {
    run(code, options);
    return session.wait();
  }
  // All that was printed.
  std::string output() {
    const std::lock_guard lock(mutex_);
    return output_;
  }
  // Waits until `text` was printed; false after kHangSeconds, as all waits here.
  bool printed(const std::string& text) {
    return wait([&] { return output_.find(text) != std::string::npos; });
  }
  bool reaches(SessionState state) {
    return wait([&] { return session.state() == state; });
  }
  // Pauses the script once it has printed `text`.
  bool pauses_after(const std::string& text) {
    if (!printed(text)) return false;
    session.pause();
    return reaches(SessionState::paused);
  }
  // After step(): waits for the pause that follows the one before it.
  bool pauses_again() {
    return wait([&] {
      if (pauses_ <= pauses_seen_ + 1) return false;
      pauses_seen_ = pauses_ - 1;
      return true;
    });
  }
  // Waits for so many events of a kind.
  bool saw(Event::Kind kind, size_t count = 1) {
    return wait([&] {
      size_t found = 0;
      for (const Event& event : events_) found += event.kind == kind;
      return found >= count;
    });
  }
  // The texts of a kind, one a line.
  std::string texts(Event::Kind kind) {
    std::string all;
    for (const Event& event : events(kind)) all += event.text + "\n";
    return all;
  }
  // Called on the session's thread with each event, after the recorder has kept it. Set before a run.
  std::function<void(const Event&)> also;

  bool eval(const std::string& code) {
    std::promise<bool> done;
    session.eval(code, [&](bool ok) { done.set_value(ok); });
    return done.get_future().get();
  }
  std::vector<Event> events(Event::Kind kind) {
    const std::lock_guard lock(mutex_);
    std::vector<Event> found;
    for (const Event& event : events_)
      if (event.kind == kind) found.push_back(event);
    return found;
  }
  std::string error() {
    const auto errors = events(Event::Kind::error);
    return errors.empty() ? "" : errors.back().text;
  }

 private:
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(kHangSeconds), condition);
  }
  void keep(const Event& event) {
    {
      const std::lock_guard lock(mutex_);
      if (event.kind == Event::Kind::output) output_ += event.text;
      pauses_ += event.kind == Event::Kind::state && event.state == SessionState::paused;
      events_.push_back(event);
    }
    changed_.notify_all();
    if (also) also(event);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string output_;
  int pauses_ = 0, pauses_seen_ = 0;
  std::vector<Event> events_;

 public:
  Session session;  // last: its thread uses the other members
};

// The answer to a question that a session answers on its thread.
template <class T>
T ask(const std::function<void(std::function<void(T)>)>& question) {
  std::promise<T> promise;
  question([&](T answer) { promise.set_value(std::move(answer)); });
  return promise.get_future().get();
}

// The most that a stop may take: seconds of processor time for each thread that works. Sanitizers multiply
// it.
inline constexpr double kStopSeconds = tests::kSanitized ? 1.0 : 0.1;

}  // namespace lunagrad::tests
