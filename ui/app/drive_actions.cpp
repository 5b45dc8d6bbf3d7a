#include "ui/app/drive_actions.h"

#include <chrono>
#include <optional>

#include "runtime/error.h"

namespace lunagrad {
namespace {

using Clock = std::chrono::steady_clock;
using Poll = DriveScript::Poll;

// How long an action may be impossible, and a run may not move while it is waited for.
constexpr std::chrono::seconds kPatience{60};

// Waits until the action is possible, does it, and lets a frame pass, so that the next one sees its effect.
Poll play(Actions& actions, const Action& action, const ActionValues& values) {
  return [&actions, action, values, until = Clock::now() + kPatience,
          done = false]() mutable -> std::optional<DriveScript::Values> {
    if (done) return DriveScript::Values();
    const ActionArguments given(action.name, values);
    if (const std::string why = action.lacks ? action.lacks(given) : ""; !why.empty()) {
      if (Clock::now() < until) return std::nullopt;
      given.refuse(why);
    }
    actions.perform(action.name, values);
    done = true;
    return std::nullopt;
  };
}

std::string as_text(const Actions::Moment& moment) {
  return (moment.state.empty() ? "not begun" : moment.state) + " in step " + std::to_string(moment.step) +
         " after " + std::to_string(moment.pauses) + " pauses and " + std::to_string(moment.ended) +
         " ended runs";
}

Actions::Moment moment_of(const ActionArguments& given) {
  const ActionFields& fields = given.fields(0, "moment", {"state", "step", "pauses", "ended"});
  Actions::Moment moment;
  moment.state = text_field(fields, "state").value_or("");
  if (moment.state != "running" && moment.state != "paused" && moment.state != "ended")
    given.refuse("state must be running, paused or ended, got \"" + moment.state + '"');
  const auto count = [&](const char* name) {
    const double value = number_field(fields, name).value_or(0);
    if (!(value >= 0 && value <= 0x1p53)) given.refuse(std::string(name) + " must be 0 or more");
    return value;
  };
  moment.step = int64_t(count("step"));
  moment.pauses = uint64_t(count("pauses"));
  moment.ended = uint64_t(count("ended"));
  return moment;
}

// Whether the run is there, or already beyond it.
bool reached(const Actions::Moment& now, const Actions::Moment& wanted) {
  if (now.ended != wanted.ended) return now.ended > wanted.ended;
  if (now.pauses != wanted.pauses) return now.pauses > wanted.pauses;
  if (wanted.state == "running") return now.state != "ended" && !now.state.empty() && now.step >= wanted.step;
  return now.state == wanted.state;
}

Poll reach(const Actions& actions, const ActionValues& values) {
  const Actions::Moment wanted = moment_of({"reach", values});
  return [&actions, wanted, last = Actions::Moment(),
          until = Clock::now() + kPatience]() mutable -> std::optional<DriveScript::Values> {
    const Actions::Moment now = actions.moment();
    if (reached(now, wanted)) return DriveScript::Values();
    if (now != last) until = Clock::now() + kPatience;
    last = now;
    if (Clock::now() < until) return std::nullopt;
    fail("ui.reach: the run is ", as_text(now), ", and not ", as_text(wanted), ", since it does not move");
  };
}

}  // namespace

void add_action_functions(std::map<std::string, DriveScript::Function>& all, Workbench& bench) {
  Actions& actions = bench.actions();
  for (const Action& action : actions.all()) {
    const auto play_it = [&actions, &action](const ActionValues& values) {
      return play(actions, action, values);
    };
    if (!all.emplace(action.name, play_it).second) fail("ui.", action.name, ": two functions have this name");
  }
  all["reach"] = [&actions](const ActionValues& values) { return reach(actions, values); };
}

}  // namespace lunagrad
