#include "script/cli/ranks/follow.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "runtime/core/error.h"
#include "runtime/core/terminal_text.h"
#include "runtime/dist/world.h"
#include "script/cli/ranks/rank_warnings.h"
#include "script/run/order.h"
#include "script/session.h"

namespace lunagrad {
namespace {

constexpr std::chrono::milliseconds kFollowInterval{20};
constexpr std::chrono::seconds kUnwindGrace{5};  // time for an interrupted script to end

// Runs one script. wait() returns when the script has ended; a new order interrupts it.
class FollowedRun {
 public:
  explicit FollowedRun(const Script& script)
      : rank_(dist::launched_rank()),
        warnings_([this](const std::string& line) { tell(line + "\n"); }),
        session_([this](const Event& event) { handle(event); }, {.process_streams = true}) {
    if (script.path.empty())
      session_.run_text(script.source, script.name.substr(1), script.options);
    else
      session_.run_file(script.path, script.options);
  }

  void wait() {
    std::chrono::steady_clock::time_point asked{};
    while (!ended_.load()) {
      std::this_thread::sleep_for(kFollowInterval);
      warnings_.look();
      if (!dist::order_waits() && !dist::is_called_off()) continue;
      session_.interrupt();
      // A script that reaches no safe point delays the next run, but not the end of the window.
      if (!dist::window_closed()) continue;
      if (asked == decltype(asked){}) asked = std::chrono::steady_clock::now();
      if (std::chrono::steady_clock::now() - asked > kUnwindGrace) _exit(1);
    }
    warnings_.settle();
  }

 private:
  // Prints to the terminal and to the window's console.
  void tell(const std::string& words) const {
    std::fputs(terminal_text(words).c_str(), stderr);
    dist::tell_window(words);
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::output:
        std::fputs(event.text.c_str(), stdout);
        dist::tell_window(text("rank ", rank_, ": ", event.text));
        break;
      case Event::Kind::warning:
      case Event::Kind::not_finite:
      case Event::Kind::growth:
        warnings_.add(event.text);
        break;
      case Event::Kind::error:
        // The window receives the error as the reason why the run has ended.
        if (event.outcome != Outcome::stopped && !dist::is_called_off())
          std::fputs(terminal_text(text("rank ", rank_, ": ", event.text, "\n")).c_str(), stderr);
        break;
      case Event::Kind::ended:
        ended_.store(true);
        break;
      default:
        break;
    }
  }

  const int rank_;
  std::atomic<bool> ended_{false};
  RankWarnings warnings_;
  Session session_;  // last, because its thread uses the others
};

}  // namespace

int follow_window() {
  dist::open_lasting_world();
  while (const std::optional<std::string> order = dist::await_order())
    FollowedRun(script_of_order(*order)).wait();
  return 0;
}

}  // namespace lunagrad
