#pragma once
// A session that records its events, for tests. Events arrive on the session's thread; the test's thread
// calls everything else.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "tests/support/sanitizers.h"

namespace lunagrad::tests {

using namespace std::chrono_literals;

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
  // All printed text.
  std::string output() {
    const std::lock_guard lock(mutex_);
    return output_;
  }
  // Waits until `text` was printed; false after ten seconds.
  bool printed(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return output_.find(text) != std::string::npos; });
  }
  bool reaches(SessionState state) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return session.state() == state; });
  }
  // After step(): waits for the next pause.
  bool pauses_again() {
    std::unique_lock lock(mutex_);
    const bool paused = changed_.wait_for(lock, 10s, [&] { return pauses_ > pauses_seen_ + 1; });
    pauses_seen_ = pauses_ - 1;
    return paused;
  }
  // Waits for `count` events of a kind; false after ten seconds.
  bool saw(Event::Kind kind, size_t count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] {
      size_t found = 0;
      for (const Event& event : events_) found += event.kind == kind;
      return found >= count;
    });
  }
  // The texts of the events of a kind, one per line.
  std::string texts(Event::Kind kind) {
    std::string all;
    for (const Event& event : events(kind)) all += event.text + "\n";
    return all;
  }
  // Called on the session's thread after each event. Set it before a run.
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
  Session session;  // last: its thread uses the members above
};

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The longest permitted time of a stop, with an allowance for sanitizers and a busy machine.
inline constexpr double kStopSeconds = tests::kSanitized ? 1.0 : 0.1;

}  // namespace lunagrad::tests
