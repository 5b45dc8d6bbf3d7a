#include "ui/time/replay_desk.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/error.h"
#include "script/time/replay.h"

namespace lunagrad {

struct ReplayDesk::Job {
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
  std::shared_ptr<Replay> replay;  // set under `mutex`

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
  }

  void cancel() {
    const std::lock_guard lock(mutex);
    cancelled = true;
    if (replay) replay->cancel();
  }
};

ReplayDesk::ReplayDesk(std::function<void()> wake) : wake_(std::move(wake)), thread_(wake_) {}

ReplayDesk::~ReplayDesk() { cancel(); }

std::shared_ptr<KeyframeSink> ReplayDesk::begin_run(KeyframePtr start) {
  close();
  problem_.clear();
  start_seconds_ = step_seconds_ = 0;
  keyframes_ = std::make_shared<MemoryKeyframes>(budget_);
  if (start) keyframes_->take(std::move(start), 0);
  return keyframes_;
}

void ReplayDesk::set_budget(size_t bytes) {
  if (bytes == budget_) return;
  budget_ = bytes;
  if (keyframes_) keyframes_->set_budget(bytes);
}

// A new replay is needed when the run was reloaded or has passed the steps that the replay has read.
static bool can_repeat(const ReplayDesk::RunNow& read, const ReplayDesk::RunNow& now, int64_t step) {
  return read.folder == now.folder && read.reloads == now.reloads && step <= read.steps;
}

ReplayDesk::Cost ReplayDesk::cost(int64_t step, const RunNow& run) const {
  Cost cost;
  if (keyframes_) {
    const std::vector<int64_t> steps = keyframes_->steps();
    const auto behind = std::lower_bound(steps.begin(), steps.end(), step);
    if (behind != steps.begin()) cost.from = *std::prev(behind);
  }
  if (stand_ && stand_->step < step && stand_->step >= cost.from && can_repeat(job_->run, run, step)) {
    cost.from = stand_->step;
    cost.goes_on = true;
  }
  cost.steps = step - cost.from;
  const double each = step_seconds_ > 0 ? step_seconds_ : run.seconds_per_step;
  if (each > 0) cost.seconds = double(cost.steps) * each + (cost.goes_on ? 0 : start_seconds_);
  return cost;
}

void ReplayDesk::go_to(int64_t step, const RunNow& run) {
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
  if (!stand_ || !can_repeat(job_->run, run, step)) {
    let_go();
    job = std::make_shared<Job>();
    job->run = run;
    job->keyframes = keyframes_;
    job->wake = wake_;
  }
  job->aim(step, expected);
  stand_.reset();
  job_ = job;
  working_ = true;
  thread_.add([job] { job->work(); }, [this, job](const std::string& problem) { finish(job, problem); });
}

void ReplayDesk::finish(const std::shared_ptr<Job>& job, const std::string& problem) {
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
  Stand stand;
  stand.step = job->target;
  stand.number = ++stands_;
  stand.tape = session.tape(job->target);
  if (!stand.tape) stand.tape = session.tape();
  if (!stand.tape) {
    problem_ = "step " + std::to_string(job->target) + " has no backward pass, so there is no tape to show";
    return let_go();
  }
  for (const StepStatisticsPtr& step : session.statistics())
    if (step->step == job->target) stand.statistics = step;
  stand.difference = job->replay->difference();
  const std::lock_guard lock(job->mutex);
  if (job->began != job->from) stand.note = job->note;
  stand_ = std::move(stand);
  if (job->first == 0) return;
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  if (job->reached > job->first)
    step_seconds_ = seconds(job->last_at - job->first_at) / double(job->reached - job->first);
  start_seconds_ = std::max(seconds(job->first_at - job->began_at) - step_seconds_, 0.0);
}

void ReplayDesk::cancel() {
  if (!working_) return;
  job_->cancel();
  let_go();
  working_ = false;
  ended_ = true;
}

void ReplayDesk::close() {
  cancel();
  let_go();
}

// Destroys the replay on its own thread, since ending its session may take a moment.
void ReplayDesk::let_go() {
  stand_.reset();
  if (std::shared_ptr<Job> job = std::exchange(job_, nullptr))
    thread_.add([job]() mutable { std::exchange(job->replay, nullptr).reset(); }, [](const std::string&) {});
}

bool ReplayDesk::update() {
  thread_.update();
  return std::exchange(ended_, false);
}

std::optional<ReplayDesk::Progress> ReplayDesk::progress() const {
  if (!working_) return std::nullopt;
  const std::lock_guard lock(job_->mutex);
  return Progress{job_->began, job_->reached, job_->target};
}

Session& ReplayDesk::session() { return job_->replay->session(); }

}  // namespace lunagrad
