#pragma once
// What a session tells its host: output to a sink, events to a function and to a queue. take() is called on
// the session's thread, the others on the engine's; a lock guards what both use. Lives until the session's
// thread has ended, which may be after the handle.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capi/lunagrad.h"
#include "script/view/run.h"

namespace lunagrad::capi {

// Waits until over() is true, at most so many seconds, or without a limit if this is infinite. Returns
// over().
template <class Over>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, double seconds,
                const Over& over) {
  if (std::isfinite(seconds)) return changed.wait_for(lock, std::chrono::duration<double>(seconds), over);
  changed.wait(lock, over);
  return true;
}

// An event with the texts that its lg_event points to.
class KeptEvent {
 public:
  KeptEvent() = default;
  explicit KeptEvent(const Event&);
  bool is_told() const { return event_.kind != LG_EVENT_NONE; }  // a host is not told of some kinds
  // Valid as long as this, and until it is moved.
  lg_event view(uint32_t dropped);

 private:
  lg_event event_{};
  std::string text_, file_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  std::vector<double> values_;
};

class Outlet {
 public:
  explicit Outlet(const lg_session_options& options)
      : sink_(options.sink),
        on_event_(options.on_event),
        user_(options.user),
        limit_(size_t(options.event_limit)),
        stdio_((options.flags & LG_SESSION_STDIO) != 0) {}
  Outlet(const Outlet&) = delete;

  void take(const Event&);
  // The oldest event, and the number that were dropped before it. Waits for one; see wait_until().
  std::pair<KeptEvent, uint32_t> next(double seconds);
  size_t waiting() const;
  std::string last_error() const;  // of the latest run; "" when it had none

 private:
  void tell(int32_t stream, const std::string&) const;

  const lg_sink sink_;
  const lg_event_function on_event_;
  void* const user_;
  const size_t limit_;
  const bool stdio_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<KeptEvent> events_;
  uint32_t dropped_ = 0;
  std::string last_error_;
};

}  // namespace lunagrad::capi
