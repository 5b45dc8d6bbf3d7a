#include "ui/time/fork_desk.h"

#include <filesystem>
#include <mutex>
#include <utility>

#include "runtime/error.h"
#include "script/run/folder.h"

namespace lunagrad {

std::map<std::string, std::string> params_at(const RunRecord& run, int64_t step) {
  std::map<std::string, std::string> params = run.params;
  for (const ParamChange& change : run.changes)
    if (change.step <= step && params.count(change.name)) params[change.name] = change.value;
  return params;
}

struct ForkDesk::Work {
  Wanted wanted;
  std::function<void()> wake;
  Made made;
  std::mutex mutex;
  bool cancelled = false;
  int64_t at = 0;
  std::shared_ptr<Replay> replay;  // last: its session tells of steps until it is gone

  // The session of the replay ends on the replay's thread: that may take a moment.
  void end() {
    std::shared_ptr<Replay> ended;
    const std::lock_guard lock(mutex);
    ended.swap(replay);
  }

  void work() {
    ReplayOptions options;
    options.keyframes = wanted.keyframes;
    options.steps = wanted.steps;
    options.progress = [this](int64_t step) {
      {
        const std::lock_guard lock(mutex);
        at = step;
      }
      wake();
    };
    auto parent = std::make_shared<Replay>(wanted.folder, std::move(options));
    {
      const std::lock_guard lock(mutex);
      if (cancelled) return;
      replay = parent;
    }
    const KeyframePtr states = states_for_fork(*parent, wanted.changes.step);
    made.script = wanted.script.empty() ? parent->run().script : wanted.script;
    made.options = options_of_fork(parent->timeline(), states, wanted.changes);
    made.options.run_directory = default_run_directory(made.script);
    begin_fork(made.options);
  }

  void cancel() {
    const std::lock_guard lock(mutex);
    cancelled = true;
    if (replay) replay->cancel();
  }
};

ForkDesk::ForkDesk(std::function<void()> wake) : wake_(std::move(wake)), thread_(wake_) {}

ForkDesk::~ForkDesk() { cancel(); }

void ForkDesk::look_at(const std::string& folder) {
  offer_.reset();
  const auto read = std::make_shared<RunRecord>();
  thread_.add([read, folder] { *read = read_run(folder); },
              [this, read, look = ++looks_](const std::string& problem) {
                if (look != looks_) return;
                problem_ = problem;
                if (problem.empty()) offer_ = std::move(*read);
              });
}

void ForkDesk::make(Wanted wanted) {
  cancel();
  problem_.clear();
  const auto work = std::make_shared<Work>();
  work->wanted = std::move(wanted);
  work->wake = wake_;
  work_ = work;
  thread_.add(
      [work] {
        try {
          work->work();
        } catch (...) {
          work->end();
          throw;
        }
        work->end();
      },
      [this, work](const std::string& problem) {
        if (work_ != work) return remove(work->made.options.run_directory);
        work_ = nullptr;
        problem_ = problem;
        if (problem.empty()) made_ = std::move(work->made);
      });
}

// The folder of a fork that was cancelled when its states were written already.
void ForkDesk::remove(const std::string& folder) {
  if (folder.empty()) return;
  thread_.add(
      [folder] {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
      },
      [](const std::string&) {});
}

void ForkDesk::cancel() {
  if (const std::shared_ptr<Work> work = std::exchange(work_, nullptr)) work->cancel();
}

std::optional<ForkDesk::Made> ForkDesk::update() {
  thread_.update();
  return std::exchange(made_, std::nullopt);
}

std::optional<ForkDesk::Progress> ForkDesk::progress() const {
  if (!work_) return std::nullopt;
  const std::lock_guard lock(work_->mutex);
  return Progress{work_->at, work_->wanted.changes.step};
}

}  // namespace lunagrad
