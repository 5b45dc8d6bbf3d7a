#include "ui/time/back_fill.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "ui/time/replay_work.h"

namespace lunagrad {
namespace {

// The time at which the run logged a step, for charts over time; NaN: it logged nothing.
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
  Work(Job asked, const std::function<void()>& wake, int64_t first, int64_t last)
      : job(std::move(asked)), from(first), to(last), replay(wake, first - 1) {
    for (const Part& one : job.parts) before.push_back(one.values);
  }

  Job job;  // its parts are guarded by `mutex` while the replay works
  const int64_t from, to;
  ReplayWork replay;
  std::mutex mutex;
  std::vector<Metric> before;       // each part's values when the job began
  std::map<uint64_t, size_t> part;  // index of the part by the probe's id in the replay's session

  // Called when a session of the replay starts: discards the values of an earlier session.
  void prepare(SessionWatches& session) {
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

  void see(const Event& event, const RunRecord& run) {  // on the session's thread
    if (event.kind != Event::Kind::probe) return;
    const std::lock_guard lock(mutex);
    const auto known = part.find(event.probe);
    if (known == part.end()) return;
    Part& asked = job.parts[known->second];
    if (event.step < asked.first || event.step > asked.last || !asked.problem.empty()) return;
    if (event.text.empty())
      asked.values.append(event.step, logged_time(run, event.step), event.metrics[0].second);
    else
      asked.problem = "step " + std::to_string(event.step) + ": " + event.text;
  }

  void work() {
    const RunRecord* run = nullptr;  // set before the first session starts
    ReplayOptions options;
    options.keyframes = job.keyframes;
    options.steps = job.steps;
    options.limits = job.limits;
    options.events = [this, &run](const Event& event) { see(event, *run); };
    replay.run(job.folder, std::move(options), [&](Replay& repeated) {
      run = &repeated.run();
      repeated.run_through(from, to, [this](SessionWatches& session) { prepare(session); });
      repeated.require_same();
    });
  }
};

BackFill::BackFill(std::function<void()> wake) : wake_(std::move(wake)), thread_(wake_) {}

BackFill::~BackFill() { cancel(); }

void BackFill::start(Job job) {
  int64_t from = std::numeric_limits<int64_t>::max(), to = 0;
  for (const Part& part : job.parts) {
    from = std::min(from, part.first);
    to = std::max(to, part.last);
  }
  const auto work = work_ = std::make_shared<Work>(std::move(job), wake_, from, to);
  thread_.add([work] { work->work(); },
              [this, work](const std::string& problem) {
                if (work_ != work) return;
                work_ = nullptr;
                result_ = Result{std::move(work->job.parts), problem};
              });
}

void BackFill::cancel() {
  if (const std::shared_ptr<Work> work = std::exchange(work_, nullptr)) work->replay.cancel();
}

std::optional<BackFill::Progress> BackFill::progress() const {
  if (!work_) return std::nullopt;
  return Progress{work_->from, work_->replay.at(), work_->to};
}

std::optional<BackFill::Result> BackFill::update() {
  thread_.update();
  return std::exchange(result_, std::nullopt);
}

}  // namespace lunagrad
