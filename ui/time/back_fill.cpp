#include "ui/time/back_fill.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/error.h"
#include "script/time/replay.h"

namespace lunagrad {
namespace {

// When the run logged a step, for charts over time; NaN: it logged nothing.
double logged_time(const RunRecord& run, int64_t step) {
  double time = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, points] : run.metrics) {
    const auto at = std::lower_bound(points.begin(), points.end(), step,
                                     [](const MetricPoint& point, int64_t s) { return point.step < s; });
    if (at == points.end()) continue;
    if (at->step == step) return at->time;
    time = at->time;
  }
  return time;
}

}  // namespace

struct BackFill::Work {
  Job job;  // the parts belong to `mutex` while the replay works
  std::function<void()> wake;
  int64_t from = 0, to = 0;
  std::mutex mutex;
  bool cancelled = false;
  int64_t at = 0;
  std::vector<Metric> before;       // the values of the parts when the job began
  std::map<uint64_t, size_t> part;  // by the id of the probe in the replay's session
  const RunRecord* run = nullptr;   // while there is a session
  std::shared_ptr<Replay> replay;   // last: its session tells of steps until it is gone

  // A session of the replay starts. What an earlier one found is void.
  void prepare(Session& session) {
    const std::lock_guard lock(mutex);
    part.clear();
    for (size_t i = 0; i < job.parts.size(); ++i) {
      job.parts[i].values = before[i];
      job.parts[i].problem.clear();
      std::string why;
      if (const uint64_t id = session.add_probe(job.parts[i].probe, &why))
        part[id] = i;
      else
        job.parts[i].problem = why;
    }
  }

  void see(const Event& event) {  // on the session's thread
    if (event.kind != Event::Kind::probe) return;
    const std::lock_guard lock(mutex);
    const auto known = part.find(event.probe);
    if (known == part.end()) return;
    Part& asked = job.parts[known->second];
    if (event.step < asked.first || event.step > asked.last || !asked.problem.empty()) return;
    if (event.text.empty())
      asked.values.append(event.step, logged_time(*run, event.step), event.metrics[0].second);
    else
      asked.problem = "step " + std::to_string(event.step) + ": " + event.text;
  }

  void work() {
    ReplayOptions options;
    options.keyframes = job.keyframes;
    options.steps = job.steps;
    options.events = [this](const Event& event) { see(event); };
    options.progress = [this](int64_t step) {
      {
        const std::lock_guard lock(mutex);
        at = step;
      }
      wake();
    };
    auto made = std::make_shared<Replay>(job.folder, std::move(options));
    {
      const std::lock_guard lock(mutex);
      if (cancelled) return;
      replay = std::move(made);
      run = &replay->run();
    }
    replay->run_through(from, to, [this](Session& session) { prepare(session); });
    replay->require_same();
  }

  // The session of the replay ends on the replay's thread: that may take a moment.
  void end() {
    std::shared_ptr<Replay> ended;
    const std::lock_guard lock(mutex);
    ended.swap(replay);
  }

  void cancel() {
    const std::lock_guard lock(mutex);
    cancelled = true;
    if (replay) replay->cancel();
  }
};

BackFill::BackFill(std::function<void()> wake) : wake_(std::move(wake)), thread_(wake_) {}

BackFill::~BackFill() { cancel(); }

void BackFill::start(Job job) {
  const auto work = std::make_shared<Work>();
  work->job = std::move(job);
  work->wake = wake_;
  work->from = std::numeric_limits<int64_t>::max();
  for (const Part& part : work->job.parts) {
    work->from = std::min(work->from, part.first);
    work->to = std::max(work->to, part.last);
    work->before.push_back(part.values);
  }
  work->at = work->from - 1;
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
        if (work_ != work) return;
        work_ = nullptr;
        result_ = Result{std::move(work->job.parts), problem};
      });
}

void BackFill::cancel() {
  if (const std::shared_ptr<Work> work = std::exchange(work_, nullptr)) work->cancel();
}

std::optional<BackFill::Progress> BackFill::progress() const {
  if (!work_) return std::nullopt;
  const std::lock_guard lock(work_->mutex);
  return Progress{work_->from, work_->at, work_->to};
}

std::optional<BackFill::Result> BackFill::update() {
  thread_.update();
  return std::exchange(result_, std::nullopt);
}

}  // namespace lunagrad
