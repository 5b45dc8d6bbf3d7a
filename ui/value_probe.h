#pragma once
// Fetches the value and the gradient of one output of a node from the session, which reads them on its own
// thread at a safe point. The drawing thread asks and looks; it never waits.
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "script/session.h"

namespace lunagrad {

class ValueProbe {
 public:
  // `wake` is called on the session's thread when an answer is there.
  explicit ValueProbe(std::function<void()> wake);

  // Keeps the answers current: asks when anything changed since the last question, but the same place (a
  // number that stays while the user looks at the same node) a few times a second at most while the script
  // runs. Call once a frame.
  void watch(Session&, int place, uint64_t node, int output, int64_t step, bool running);
  void forget();  // shows nothing until the next watch()

  // What was read last of that node and output; null while the first answer is on its way.
  std::shared_ptr<const ValueView> value() const;
  std::shared_ptr<const ValueView> gradient() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Question {
    int place = -1;
    uint64_t node = 0;
    int output = 0;
    int64_t step = 0;
    bool running = false;
    bool operator==(const Question&) const = default;
  };
  // Shared with the callbacks, which may outlive the probe.
  struct Answers {
    std::mutex mutex;
    uint64_t number = 0;  // of the last question
    int missing = 0;      // answers to it still to come
    std::shared_ptr<const ValueView> views[2];
    std::function<void()> wake;
  };
  std::shared_ptr<Answers> answers_;
  std::optional<Question> asked_;
  Clock::time_point asked_at_;
};

}  // namespace lunagrad
