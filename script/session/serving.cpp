// The thread of a session: its begin, what it serves, and its end.
#include <algorithm>

#include "runtime/dist/world.h"
#include "runtime/system/number_locale.h"
#include "script/guard/guard.h"
#include "script/guard/run_limits.h"
#include "script/session/session_thread.h"

namespace lunagrad {
namespace {

// A session that ends waits so many seconds for a function of Lua's library that reaches no safe point, and
// looks so often.
constexpr double kLibraryGrace = 10;
constexpr double kLookAgain = 0.05;

thread_local const SessionThread* serving = nullptr;  // the session whose thread this is

}  // namespace

void SessionThread::begin() {
  thread_ = std::thread([this] {
    serve();
    std::unique_lock lock(ending_);
    finished_ = true;
    const std::unique_ptr<SessionThread> own(left_ ? this : nullptr);
    finishes_.notify_all();
    lock.unlock();
  });
}

SessionThread::~SessionThread() {
  if (thread_.joinable()) thread_.join();
}

bool SessionThread::end(std::unique_ptr<SessionThread> session, double seconds) {
  SessionThread& self = *session;
  if (dist::leads()) dist::on_words(nullptr);
  self.control_.close();
  const auto start = std::chrono::steady_clock::now();
  const auto left = [&] {
    return seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::unique_lock lock(self.ending_);
  if (serving != &self) {
    for (;;) {
      const std::chrono::duration<double> most(std::clamp(left(), 0.0, kLookAgain));
      if (self.finishes_.wait_for(lock, most, [&] { return self.finished_; })) return true;
      const double silent = self.control_.closing_for();
      if (silent > kLibraryGrace && self.globals_.native_calls().current().first[0]) break;
      if (left() <= 0) break;
    }
    lock.unlock();
    self.calls_.close(std::max(left(), 0.0));  // waits for code of the program that runs now
    self.host_.close();
    lock.lock();
    if (self.finished_) return true;
  } else {
    self.calls_.close(0);
    self.host_.close();
  }
  self.left_ = true;
  self.thread_.detach();
  session.release();
  return false;
}

void SessionThread::require_other_thread(const char* function) const {
  if (serving == this)
    fail(function,
         ": called on the session's own thread, in a callback or a function of the host; it would "
         "wait for itself");
}

// The kernel's limits on a thread cannot be lifted, so a sandboxed script, and later queries about it, get
// their own thread.
void SessionThread::serve() {
  std::optional<Script> next;
  for (bool goes_on = true; goes_on;) {
    if (next && needs_thread(next->options))
      std::thread([&] {
        limit_thread(*next);
        goes_on = serve_on_thread(next, true);
      }).join();
    else
      goes_on = serve_on_thread(next, false);
  }
  host_.drop();
}

bool SessionThread::serve_on_thread(std::optional<Script>& next, bool limited) {
  const UseContext use(context_);
  const NumberLocale plain_numbers;
  serving = this;
  bool goes_on = true;
  for (;;) {
    std::optional<Script> script = std::exchange(next, std::nullopt);
    if (!script) {
      const RunControl::Work work = control_.await_work(script);
      goes_on = work != RunControl::Work::close;
      if (!goes_on) break;
      if (work == RunControl::Work::task) {
        tasks_.run_next();
        continue;
      }
      if (script) {
        handover_.drop();
        if (limited || needs_thread(script->options)) {
          next = std::move(script);
          break;
        }
      } else {
        script = reloads_.successor_when_idle();
      }
    }
    while (script) script = run_script(std::move(*script));
    control_.scripts_ended();
  }
  if (!goes_on) control_.drop_tasks();
  handover_.drop();
  handover_.forget_kept_step();
  close_state();
  viewers_.tape().clear();
  return goes_on;
}

void SessionThread::limit_thread(Script& script) {
  RunOptions& options = script.options;
  GuardLimits limits;
  aside_.reset();
  if (options.files_aside) {
    try {
      options.aside_folder = aside_.emplace().path();
      limits.temporary.push_back(options.aside_folder);
    } catch (const Error&) {  // the script's first write fails
    }
  }
  add_run_limits(limits, script.path, options, false);
  options.unguarded = guard_thread(limits).missing;
}

}  // namespace lunagrad
