#include "ui/time/replay_controller.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/core/error.h"
#include "script/time/replay.h"

namespace lunagrad {

struct ReplayController::Job {
  int64_t target = 0;
  RunNow run;
  std::shared_ptr<KeyframeSource> keyframes;
  std::function<void()> wake;

  int64_t from = 0;  // the step after which it should begin
  std::mutex mutex;
  // Guarded by `mutex`:
  bool cancelled = false;
  int64_t began = 0, reached = 0;
  std::string note;
  Clock::time_point began_at, first_at, last_at;  // start of the work; times of its first and latest step
  int64_t first = 0;                              // the step at first_at, 0: none yet
  // Used by the replay's thread while it works; afterwards, and to cancel, by the drawing thread. Last, since
  // its session reports steps until it is destroyed.
  std::shared_ptr<Replay> replay;        // set under `mutex`
  std::shared_ptr<const Modules> texts;  // of the target; null: they can no longer be read

  void aim(int64_t step, const Cost& cost) {
    const std::lock_guard lock(mutex);
    target = step;
    from = began = reached = cost.from;
    first = 0;
    note.clear();
    began_at = Clock::now();
  }

  void note_step(int64_t step) {
    {
      const std::lock_guard lock(mutex);
      if (first == 0 || step <= reached) {  // the replay has started again
        first = step;
        first_at = Clock::now();
        began = step - 1;
      }
      reached = step;
      last_at = Clock::now();
    }
    wake();
  }

  void tell(const std::string& fact) {
    const std::lock_guard lock(mutex);
    note += (note.empty() ? "" : "\n") + fact;
  }

  // Runs on the replay's thread.
  void work() {
    if (!replay) {
      ReplayOptions options;
      options.keyframes = keyframes;
      options.steps = run.steps;
      options.limits = run.limits;
      options.warn = [this](const std::string& fact) { tell(fact); };
      options.progress = [this](int64_t step) { note_step(step); };
      auto made = std::make_shared<Replay>(run.folder, std::move(options));
      const std::lock_guard lock(mutex);
      replay = std::move(made);
    }
    {
      const std::lock_guard lock(mutex);
      if (cancelled) return;
    }
    replay->go_to(target);
    try {
      texts = std::make_shared<const Modules>(replay->timeline().texts_of(target));
    } catch (const Error&) {  // the replay has read them; the step itself can be shown
      texts = nullptr;
    }
  }

  void cancel() {
    const std::lock_guard lock(mutex);
    cancelled = true;
    if (replay) replay->cancel();
  }
};

ReplayController::ReplayController(std::function<void()> wake) : wake_(std::move(wake)), thread_(wake_) {}

ReplayController::~ReplayController() { cancel(); }

std::shared_ptr<KeyframeSink> ReplayController::begin_run(KeyframePtr start) {
  close();
  problem_.clear();
  start_seconds_ = step_seconds_ = 0;
  keyframes_ = std::make_shared<MemoryKeyframes>(budget_);
  if (start) keyframes_->take(std::move(start), 0);
  return keyframes_;
}

void ReplayController::set_budget(size_t bytes) {
  if (bytes == budget_) return;
  budget_ = bytes;
  if (keyframes_) keyframes_->set_budget(bytes);
}

// A new replay is needed when the run was reloaded or has passed the steps that the replay has read.
static bool can_repeat(const ReplayController::RunNow& read, const ReplayController::RunNow& now,
                       int64_t step) {
  return read.folder == now.folder && read.reloads == now.reloads && step <= read.steps;
}

ReplayController::Cost ReplayController::cost(int64_t step, const RunNow& run) const {
  Cost cost;
  if (keyframes_) {
    const std::vector<int64_t> steps = keyframes_->steps();
    const auto behind = std::lower_bound(steps.begin(), steps.end(), step);
    if (behind != steps.begin()) cost.from = *std::prev(behind);
  }
  if (position_ && position_->step < step && position_->step >= cost.from &&
      can_repeat(job_->run, run, step)) {
    cost.from = position_->step;
    cost.goes_on = true;
  }
  cost.steps = step - cost.from;
  const double each = step_seconds_ > 0 ? step_seconds_ : run.seconds_per_step;
  if (each > 0) cost.seconds = double(cost.steps) * each + (cost.goes_on ? 0 : start_seconds_);
  return cost;
}

void ReplayController::go_to(int64_t step, const RunNow& run) {
  cancel();
  problem_.clear();
  if (run.folder.empty()) {
    problem_ = "step " + std::to_string(step) +
               " is not kept, and this run has no folder that tells how to repeat it: start it from the "
               "window to have one";
    ended_ = true;
    return;
  }
  const Cost expected = cost(step, run);
  std::shared_ptr<Job> job = job_;
  if (!position_ || !can_repeat(job_->run, run, step)) {
    let_go();
    job = std::make_shared<Job>();
    job->run = run;
    job->keyframes = keyframes_;
    job->wake = wake_;
  }
  job->aim(step, expected);
  position_.reset();
  job_ = job;
  working_ = true;
  thread_.add([job] { job->work(); }, [this, job](const std::string& problem) { finish(job, problem); });
}

void ReplayController::finish(const std::shared_ptr<Job>& job, const std::string& problem) {
  if (job != job_ || !working_) return;
  working_ = false;
  ended_ = true;
  bool cancelled = false;
  {
    const std::lock_guard lock(job->mutex);
    cancelled = job->cancelled;
  }
  if (cancelled || !problem.empty()) {
    if (!cancelled) problem_ = problem;
    return let_go();
  }
  Session& session = job->replay->session();
  Position position;
  position.step = job->target;
  position.number = ++positions_;
  position.tape = session.tape(job->target);
  if (!position.tape) position.tape = session.tape();
  if (!position.tape) {
    problem_ = "step " + std::to_string(job->target) + " has no backward pass, so there is no tape to show";
    return let_go();
  }
  for (const StepStatisticsPtr& step : session.statistics())
    if (step->step == job->target) position.statistics = step;
  position.difference = job->replay->difference();
  position.texts = job->texts;
  const std::lock_guard lock(job->mutex);
  if (job->began != job->from) position.note = job->note;
  position_ = std::move(position);
  if (job->first == 0) return;
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  if (job->reached > job->first)
    step_seconds_ = seconds(job->last_at - job->first_at) / double(job->reached - job->first);
  start_seconds_ = std::max(seconds(job->first_at - job->began_at) - step_seconds_, 0.0);
}

void ReplayController::cancel() {
  if (!working_) return;
  job_->cancel();
  let_go();
  working_ = false;
  ended_ = true;
}

void ReplayController::close() {
  cancel();
  let_go();
}

// Destroys the replay on its own thread, since ending its session may take a moment.
void ReplayController::let_go() {
  position_.reset();
  if (std::shared_ptr<Job> job = std::exchange(job_, nullptr))
    thread_.add([job]() mutable { std::exchange(job->replay, nullptr).reset(); }, [](const std::string&) {});
}

bool ReplayController::update() {
  thread_.update();
  return std::exchange(ended_, false);
}

std::optional<ReplayController::Progress> ReplayController::progress() const {
  if (!working_) return std::nullopt;
  const std::lock_guard lock(job_->mutex);
  return Progress{job_->began, job_->reached, job_->target};
}

Session& ReplayController::session() { return job_->replay->session(); }

}  // namespace lunagrad
