#include "script/session/reloads.h"

#include <filesystem>

#include "runtime/dist/world.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/run/folder.h"
#include "script/run/record.h"

namespace lunagrad {
namespace {

// The changed script: the given text, or the file read again. Empty when the script or one of its modules
// does not compile, which is sent as an error event. `goes_on`: the present script still runs.
std::optional<Script> read_successor(const CurrentRun& run, const RunControl::Reload& asked, bool goes_on,
                                     Events& events) {
  Script next = run.script();
  if (asked.modules) next.options.modules = *asked.modules;
  std::string problem;
  SourcePlace place;
  try {
    if (asked.source) {
      next.source = *asked.source;
    } else if (!next.path.empty()) {
      next.source = read_script(next.path);
    }
    const std::string_view code = next.path.empty() ? next.source : without_shebang(next.source);
    problem = syntax_error(code, next.name, place);
    for (const std::string& file : run.files())
      if (problem.empty() && file != next.path)
        problem = syntax_error(without_shebang(read_script(file)), "@" + file, place);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (problem.empty()) {
    next.options.source = next.source;
    return next;
  }
  problem += "\nnot reloaded";
  if (goes_on) problem += "; the script goes on as it was";
  events.fail(std::move(problem), std::move(place), Outcome::error);
  return std::nullopt;
}

// The folder for a run that begins again. The kernel lets a sandboxed script of the window write only into
// the folder of its first run.
std::string next_place(const RunOptions& options) {
  if (!options.sandbox || options.guarded) return options.run_directory;
  const std::filesystem::path folder = options.run_directory, above = folder.parent_path();
  return ((is_run(above.string()) ? above : folder) / "run").string();
}

// Makes the script run from its first step in a new run folder; an event says why.
void start_anew(Script& script, const std::string& why, Events& events) {
  std::string& folder = script.options.run_directory;
  const bool new_folder = !folder.empty() && script.options.resume.empty();
  if (new_folder) folder = unused_run_directory(next_place(script.options));
  Event event{};
  event.kind = Event::Kind::reload;
  event.text = "starts anew";
  if (!why.empty()) event.text += ": " + why;
  events.emit(std::move(event));
}

}  // namespace

void Reloads::read() {
  const std::optional<RunControl::Reload> asked = control_.take_reload();
  if (!asked || refuses()) return;
  if (std::optional<Script> next = read_successor(run_, *asked, true, events_))
    control_.set_successor(std::move(next));
}

// The other ranks have no states for the new script.
bool Reloads::refuses() {
  if (!dist::leads()) return false;
  events_.warn(
      "not reloaded: the ranks run the text that they began with; start the run again for the new one");
  return true;
}

bool Reloads::hand_over() {
  std::optional<Script> next = control_.take_successor();
  bool failed = true;
  tasks_.run_own([&] {
    try {
      if (run_->done() > 0 && viewers_.sentry().found() && handover_.kept_step()) {
        handover_.take_kept_step();
      } else if (run_->done() > 0) {
        handover_.take(script_.lua(), "");
      } else {
        handover_.drop();
      }
      failed = false;
    } catch (const Error& error) {
      fail("not reloaded, the states cannot be taken: ", error.what());
    }
  });
  if (failed) return false;
  if (!handover_) {
    start_anew(*next, run_->done() > 0 ? "nothing is registered with lg.run.state" : "", events_);
    run_->finish(Outcome::stopped, int(Outcome::stopped));
  }
  successor_ = std::move(next);
  return true;
}

std::optional<Script> Reloads::successor_when_idle() {
  std::optional<Script> next = control_.take_successor();
  if (const std::optional<RunControl::Reload> asked = control_.take_reload(); asked && !refuses()) {
    std::optional<Script> newer = read_successor(run_, *asked, false, events_);
    if (newer || !next) next = std::move(newer);
  }
  if (!next) return next;
  // A run that reached its end with NaN has failed.
  const Outcome outcome = viewers_.sentry().found() ? Outcome::numeric : control_.outcome();
  if (outcome == Outcome::ok) handover_.drop();
  std::string why;
  if (outcome != Outcome::ok && !handover_ && script_.lua() && run_->done() > 0)
    why = handover_.take_after_failure(script_.lua(), *run_, outcome, events_);
  if (!handover_) start_anew(*next, why, events_);
  return next;
}

}  // namespace lunagrad
