#include "ui/time/fork_controller.h"

#include <filesystem>
#include <utility>

#include "script/run/folder.h"
#include "ui/time/replay_work.h"

namespace lunagrad {

std::map<std::string, std::string> params_at(const RunRecord& run, int64_t step) {
  std::map<std::string, std::string> params = run.params;
  for (const ParamChange& change : run.changes)
    if (change.step <= step && params.count(change.name)) params[change.name] = change.value;
  return params;
}

struct ForkController::Work {
  Work(Wanted asked, const std::function<void()>& wake) : wanted(std::move(asked)), replay(wake, 0) {}

  Wanted wanted;
  Made made;
  ReplayWork replay;

  void work() {
    ReplayOptions options;
    options.keyframes = wanted.keyframes;
    options.steps = wanted.steps;
    options.limits = wanted.limits;
    replay.run(wanted.folder, std::move(options), [this](Replay& parent) {
      const KeyframePtr states = states_for_fork(parent, wanted.changes.step);
      made.script = wanted.script.empty() ? parent.timeline().script_to_run() : wanted.script;
      made.opens = wanted.opens.empty() ? made.script : wanted.opens;
      if (wanted.changes.other_script && wanted.script.empty()) made.script = made.opens;
      made.options = options_of_fork(parent.timeline(), states, wanted.changes);
      made.options.sandbox |= wanted.limits.sandbox;
      made.options.stand_ins = wanted.limits.stand_ins;
      made.options.run_directory = default_run_directory(made.script);
      begin_fork(made.options);
    });
  }
};

ForkController::ForkController(std::function<void()> wake) : wake_(std::move(wake)), thread_(wake_) {}

ForkController::~ForkController() { cancel(); }

void ForkController::look_at(const std::string& folder) {
  offer_.reset();
  const auto read = std::make_shared<RunRecord>();
  thread_.add([read, folder] { *read = read_run(folder); },
              [this, read, look = ++looks_](const std::string& problem) {
                if (look != looks_) return;
                problem_ = problem;
                if (problem.empty()) offer_ = std::move(*read);
              });
}

void ForkController::make(Wanted wanted) {
  cancel();
  problem_.clear();
  const auto work = work_ = std::make_shared<Work>(std::move(wanted), wake_);
  thread_.add([work] { work->work(); },
              [this, work](const std::string& problem) {
                if (work_ != work) return remove(work->made.options.run_directory);
                work_ = nullptr;
                problem_ = problem;
                if (problem.empty()) made_ = std::move(work->made);
              });
}

// Deletes the folder of a fork that was cancelled after its states were written.
void ForkController::remove(const std::string& folder) {
  if (folder.empty()) return;
  thread_.add(
      [folder] {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
      },
      [](const std::string&) {});
}

void ForkController::cancel() {
  if (const std::shared_ptr<Work> work = std::exchange(work_, nullptr)) work->replay.cancel();
}

std::optional<ForkController::Made> ForkController::update() {
  thread_.update();
  return std::exchange(made_, std::nullopt);
}

std::optional<ForkController::Progress> ForkController::progress() const {
  if (!work_) return std::nullopt;
  return Progress{work_->replay.at(), work_->wanted.changes.step};
}

}  // namespace lunagrad
