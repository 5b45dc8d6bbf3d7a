#include "ui/app/drive_actions.h"

#include <chrono>
#include <optional>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

using Poll = DriveScript::Poll;

// How long to wait for an action that is not possible yet, and for a run that does not move.
constexpr std::chrono::seconds kActionPatience{60};

// Waits until the action is possible, does it, and waits one more frame so that its effect is visible.
Poll play(Actions& actions, const Action& action, const ActionValues& values) {
  return [&actions, action, values, until = std::chrono::steady_clock::now() + kActionPatience,
          done = false]() mutable -> std::optional<DriveScript::Values> {
    if (done) return DriveScript::Values();
    const ActionArguments given(action.name, values);
    if (const std::string why = action.lacks ? action.lacks(given) : ""; !why.empty()) {
      if (std::chrono::steady_clock::now() < until) return std::nullopt;
      given.refuse(why);
    }
    actions.perform(action.name, values);
    done = true;
    return std::nullopt;
  };
}

// What ui.reach waits for; a missing count is not checked.
struct Wanted {
  std::string state;
  int64_t step = 0;
  std::optional<uint64_t> pauses, ended;
};

Wanted wanted_by(const ActionArguments& given) {
  const ActionFields& fields = given.fields(0, "moment", {"state", "step", "pauses", "ended"});
  Wanted wanted;
  wanted.state = text_field(fields, "state").value_or("");
  if (wanted.state != "running" && wanted.state != "paused" && wanted.state != "ended")
    given.refuse("state must be running, paused or ended, got \"" + wanted.state + '"');
  const auto count = [&](const char* name) {
    const std::optional<double> value = number_field(fields, name);
    if (value && !(*value >= 0 && *value <= 0x1p53)) given.refuse(std::string(name) + " must be 0 or more");
    return value ? std::optional(uint64_t(*value)) : std::nullopt;
  };
  wanted.step = int64_t(count("step").value_or(0));
  wanted.pauses = count("pauses");
  wanted.ended = count("ended");
  return wanted;
}

// Whether the run has reached the wanted moment or is past it.
bool reached(const Actions::Moment& now, const Wanted& wanted) {
  if (wanted.ended && now.ended != *wanted.ended) return now.ended > *wanted.ended;
  if (wanted.pauses && now.pauses != *wanted.pauses) return now.pauses > *wanted.pauses;
  if (wanted.state != "running") return now.state == wanted.state;
  return (now.state == "running" || now.state == "paused") && now.step >= wanted.step;
}

std::string as_text(const Actions::Moment& now) {
  return (now.state.empty() ? "not begun" : now.state) + " in step " + std::to_string(now.step) + " after " +
         std::to_string(now.pauses) + " pauses and " + std::to_string(now.ended) + " ended runs";
}

Poll reach(const Actions& actions, const ActionValues& values) {
  const std::string name = "reach";
  return [&actions, wanted = wanted_by({name, values}), call = call_as_lua(name, values),
          last = Actions::Moment(),
          until = std::chrono::steady_clock::now() +
                  kActionPatience]() mutable -> std::optional<DriveScript::Values> {
    const Actions::Moment now = actions.moment();
    if (reached(now, wanted)) return DriveScript::Values();
    if (now != last) until = std::chrono::steady_clock::now() + kActionPatience;
    last = now;
    if (std::chrono::steady_clock::now() < until) return std::nullopt;
    fail(call, ": the run does not get there: it is ", as_text(now));
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
