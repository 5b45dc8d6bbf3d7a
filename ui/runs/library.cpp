#include "ui/runs/library.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "runtime/core/error.h"
#include "script/run/notes.h"
#include "script/run/sweep.h"
#include "ui/runs/journal.h"

namespace lunagrad {
namespace fs = std::filesystem;

// Members of RunLibrary::Reader, which is not in the anonymous namespace, have these types.

// Modification time and length of a file; zeros if there is no file.
struct RunFileStamp {
  int64_t changed = 0, size = 0;
  bool operator==(const RunFileStamp&) const = default;
};

struct RunFileStamps {
  RunFileStamp metrics, config, star, note;
  bool operator==(const RunFileStamps&) const = default;
};

// The number of a run's events that have a mark already.
struct MarkedEvents {
  size_t changes = 0, reloads = 0, checkpoints = 0;
};

namespace {

using Clock = std::chrono::steady_clock;

RunFileStamp stamp_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {int64_t(found.st_mtim.tv_sec) * 1000000000 + found.st_mtim.tv_nsec, int64_t(found.st_size) + 1};
}

RunFileStamps stamps_of(const std::string& folder) {
  return {stamp_of(folder + "/metrics.jsonl"), stamp_of(folder + "/config.json"), stamp_of(folder + "/star"),
          stamp_of(folder + "/note.txt")};
}

bool just_changed(const RunFileStamp& stamp) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - stamp.changed < 30'000'000'000;
}

void add_marks(const RunRecord& run, MarkedEvents& done, std::vector<RunMark>& marks) {
  // Rows have times, marks only steps: takes the time of the first row at or after the mark's step.
  const std::vector<MetricPoint>* longest = nullptr;
  for (const auto& [name, points] : run.metrics)
    if (!longest || points.size() > longest->size()) longest = &points;
  const auto add = [&](RunMark::Kind kind, int64_t step, const std::string& text,
                       const std::string& brief = {}) {
    double time = run.seconds;
    if (longest) {
      const auto at = std::lower_bound(longest->begin(), longest->end(), step,
                                       [](const MetricPoint& point, int64_t s) { return point.step < s; });
      if (at != longest->end()) time = at->time;
    }
    marks.push_back({kind, step, time, printable(text), {}, printable(brief)});
  };
  for (; done.changes < run.changes.size(); ++done.changes) {
    const ParamChange& change = run.changes[done.changes];
    add(RunMark::Kind::edit, change.step, change.name + " to " + change.value,
        change.name + " " + change.value);
  }
  for (; done.reloads < run.reloads.size(); ++done.reloads)
    add(RunMark::Kind::reload, run.reloads[done.reloads], "reloaded");
  for (; done.checkpoints < run.checkpoints.size(); ++done.checkpoints) {
    const LoggedItem& item = run.checkpoints[done.checkpoints];
    add(RunMark::Kind::checkpoint, item.step, "checkpoint " + item.what);
  }
}

void for_folders(const fs::path& folder, const std::function<void(const fs::path&)>& visit) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) visit(entry->path().lexically_normal());
  }
}

// Adds the runs in a folder if `all`, and the trials of its sweeps.
void add_runs(const fs::path& folder, bool all, std::vector<std::string>& paths) {
  for_folders(folder, [&](const fs::path& path) {
    if (is_sweep(path.string()))
      for_folders(path / "trials", [&](const fs::path& trial) {
        if (is_run(trial.string())) paths.push_back(trial.string());  // skips a trial that is just beginning
      });
    else if (all)
      paths.push_back(path.string());
  });
}

}  // namespace

// The state of the thread between scans.
class RunLibrary::Reader {
 public:
  // Lists the runs in these folders, from the cache if their files did not change. `tell` is called now and
  // then with the number of runs read so far. Returns false when nothing changed.
  bool scan(const std::set<std::string>& folders, std::vector<RunSummary>& runs,
            const std::function<bool(size_t done, size_t all, const std::vector<RunSummary>&)>& tell) {
    std::vector<std::string> paths;
    for (const std::string& folder : folders) {
      add_runs(folder, true, paths);
      // Sweeps are made beside the folder runs/.
      if (const fs::path path = folder; path.filename() == "runs") add_runs(path.parent_path(), false, paths);
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    bool changed = paths.size() != known_.size();
    std::map<std::string, Known> now;
    runs.clear();
    for (const std::string& path : paths) {
      auto before = known_.extract(path);
      Known known = before.empty() ? Known{} : std::move(before.mapped());
      const RunFileStamps stamps = stamps_of(path);
      // A run that was being written becomes unfinished when no more data arrives.
      const bool alive = just_changed(stamps.metrics);
      if (before.empty() || known.stamps != stamps || (known.summary.outcome == "running" && !alive)) {
        known.stamps = stamps;
        known.summary = read(path, alive, known);
        changed = true;
      }
      add_sweep(known.summary);
      runs.push_back(known.summary);
      now.emplace(path, std::move(known));
      if (!tell(runs.size(), paths.size(), runs)) break;
    }
    known_ = std::move(now);
    return changed;
  }

  // Reads the new part of a shown run; an empty folder name in the result means that there is nothing new.
  News follow(const std::string& folder, double smoothing) {
    News news;
    Followed& run = followed_[folder];
    const RunFileStamps stamps = stamps_of(folder);
    if ((run.follower || run.failed) && stamps == run.stamps) return news;
    run.stamps = stamps;
    run.failed = false;
    try {
      if (!run.follower) run.follower = std::make_unique<RunFollower>(folder);
      const uint64_t before = run.follower->offset();
      const bool more = run.follower->more();
      news.whole =
          !run.sent || run.follower->record().voided != run.voided || run.follower->offset() < before;
      if (!more && !news.whole) return news;
      if (news.whole) {
        if (run.sent) {  // sent rows have become invalid
          run.follower = std::make_unique<RunFollower>(folder);
          run.follower->more();
        }
        run.sent = true;
        run.last.clear();
        run.marks.clear();
        run.marked = {};
      }
      news.folder = folder;
      const RunRecord& record = run.follower->record();
      run.voided = record.voided;
      const RunSummary summary = summarize(record, false);
      news.curves.name = printable(summary.name);
      news.curves.folder = folder;
      news.curves.group = summary.group;
      add_marks(record, run.marked, run.marks);
      news.curves.marks = run.marks;
      for (const auto& [name, points] : record.metrics) {
        Metric* metric = news.whole ? &news.curves.metric(printable(name), smoothing) : nullptr;
        // The first point is already sent: the follower keeps the last point of each metric that it has sent.
        const bool kept = !run.last.insert(name).second && !points.empty();
        for (size_t i = kept ? 1 : 0; i < points.size(); ++i) {
          const MetricPoint& point = points[i];
          if (metric)
            metric->append(point.step, point.time, point.value);
          else
            news.points.push_back({printable(name), point.step, point.time, point.value});
        }
      }
      run.follower->forget_points();
    } catch (const Error& error) {
      std::error_code ignored;
      news.folder = folder;
      news.problem = error.what();
      news.gone = !fs::exists(folder, ignored);
      run.failed = true;
      run.follower.reset();
      run.sent = false;
    }
    return news;
  }

  void forget_all_but(const std::set<std::string>& shown) {
    std::erase_if(followed_, [&](const auto& entry) { return !shown.count(entry.first); });
  }

 private:
  struct Known {
    RunFileStamps stamps;
    RunSummary summary;
    std::unique_ptr<RunFollower> follower;  // set while the run is being written: reads only new data
    int64_t voided = 0;
    std::map<std::string, RunSummary::Values> values;  // values of the points that the follower has dropped
  };
  struct Followed {
    RunFileStamps stamps;
    std::unique_ptr<RunFollower> follower;
    bool failed = false;         // true until the run's files change
    bool sent = false;           // all points so far were sent
    std::set<std::string> last;  // the metrics whose last point the follower still holds
    std::vector<RunMark> marks;
    MarkedEvents marked;
    int64_t voided = 0;
  };

  // A trial is named after its sweep; the name of a running trial also has its claim.
  void add_sweep(RunSummary& run) {
    const fs::path trials = fs::path(run.folder).parent_path(), folder = trials.parent_path();
    if (!run.sweep.empty() || trials.filename() != "trials") return;
    auto known = sweeps_.find(folder.string());
    if (known == sweeps_.end() && is_sweep(folder.string())) {
      known = sweeps_.try_emplace(folder.string()).first;
      try {
        known->second = read_sweep(folder.string());
      } catch (const Error&) {
        // The sweep cannot be read; its runs are shown all the same.
      }
    }
    if (known == sweeps_.end()) return;
    run.sweep = known->first;
    if (const auto& sweep = known->second) {
      run.logarithmic.insert(sweep->logarithmic.begin(), sweep->logarithmic.end());
      run.ranked = sweep->metric;
      run.maximize = sweep->maximize;
    }
    run.name = printable(folder.filename().string()) + "/" + run.name.substr(0, run.name.find('.'));
  }

  static RunSummary read(const std::string& folder, bool alive, Known& known) {
    RunSummary summary;
    std::unique_ptr<RunFollower>& follower = known.follower;
    try {
      if (alive) {
        if (follower) follower->more();
        if (!follower || follower->record().voided != known.voided) {
          known.values.clear();
          follower = std::make_unique<RunFollower>(folder);
          follower->more();
          known.voided = follower->record().voided;
        }
        summary = summarize(follower->record(), true);
        for (auto& [name, values] : summary.metrics)
          if (const auto before = known.values.find(name); before != known.values.end()) {
            values.least = std::fmin(values.least, before->second.least);
            values.largest = std::fmax(values.largest, before->second.largest);
          }
        known.values = summary.metrics;
        follower->forget_points();
        if (summary.outcome != "running") follower.reset();  // the run has ended, and everything was read
      } else {
        follower.reset();
        summary = summarize(read_run(folder), false);
      }
      const RunNotes notes = read_notes(folder);
      summary.starred = notes.starred;
      summary.note = printable(notes.note);
    } catch (const std::exception& error) {
      follower.reset();
      summary.problem = printable(error.what());
      summary.name = fs::path(folder).filename().string();
    }
    summary.folder = folder;
    summary.name = printable(summary.name);
    summary.damage = printable(summary.damage);
    return summary;
  }

  std::map<std::string, Known> known_;
  std::map<std::string, std::optional<SweepSummary>> sweeps_;  // nullopt: unreadable
  std::map<std::string, Followed> followed_;
};

RunLibrary::RunLibrary(std::function<void()> wake) : wake_(std::move(wake)) {}

RunLibrary::~RunLibrary() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void RunLibrary::start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void RunLibrary::look_in(const std::set<std::string>& folders) {
  if (folders == folders_) return;
  folders_ = folders;
  {
    std::lock_guard lock(mutex_);
    wanted_folders_ = folders;
    again_ = true;
  }
  start();
}

void RunLibrary::show(const std::string& run, bool on) {
  if (on == shows(run)) return;
  if (on) {
    asked_.insert(run);
  } else {
    asked_.erase(run);
    curves_.erase(run);
    problems_.erase(run);
  }
  {
    std::lock_guard lock(mutex_);
    wanted_runs_ = asked_;
    again_ = true;
  }
  start();
}

void RunLibrary::look_again() {
  {
    std::lock_guard lock(mutex_);
    again_ = true;
  }
  changed_.notify_one();
}

void RunLibrary::set_smoothing(double beta) {
  if (beta == smoothing_) return;
  smoothing_ = beta;
  {
    std::lock_guard lock(mutex_);
    wanted_smoothing_ = beta;
  }
  for (auto& [folder, run] : curves_)
    for (Metric& metric : run.metrics) metric.set_smoothing(beta);
}

bool RunLibrary::update() {
  std::unique_ptr<std::vector<RunSummary>> runs;
  std::vector<News> news;
  {
    std::lock_guard lock(mutex_);
    runs = std::move(found_runs_);
    progress_ = found_progress_;
    news.swap(news_);
  }
  if (runs) {
    runs_ = std::move(*runs);
    ++revision_;
  }
  for (News& one : news) {
    if (!asked_.count(one.folder)) continue;  // the user has hidden it meanwhile
    if (one.gone) {
      gone_.push_back(one.folder);
      show(one.folder, false);
      continue;
    }
    if (!one.problem.empty()) {
      problems_[one.folder] = one.problem;
      continue;
    }
    problems_.erase(one.folder);
    RunCurves& run = curves_[one.folder];
    if (one.whole) {
      run = std::move(one.curves);
      for (Metric& metric : run.metrics)
        if (metric.smoothing() != smoothing_) metric.set_smoothing(smoothing_);
    } else {
      run.marks = std::move(one.curves.marks);
      run.group = std::move(one.curves.group);
      for (const Point& point : one.points)
        run.metric(point.metric, smoothing_).append(point.step, point.time, point.value);
    }
  }
  return runs || !news.empty();
}

void RunLibrary::run() {
  Reader reader;
  std::unique_lock lock(mutex_);
  bool first = true;
  while (!stop_) {
    again_ = false;
    const std::set<std::string> folders = wanted_folders_, shown = wanted_runs_;
    const double smoothing = wanted_smoothing_;
    lock.unlock();

    // Curves come first: the user is looking at them.
    reader.forget_all_but(shown);
    for (const std::string& folder : shown) {
      News news = reader.follow(folder, smoothing);
      if (news.folder.empty()) continue;
      {
        std::lock_guard guard(mutex_);
        news_.push_back(std::move(news));
      }
      if (wake_) wake_();
    }
    std::vector<RunSummary> runs;
    auto reported = Clock::now();
    const auto publish = [&](std::pair<size_t, size_t> progress) {
      {
        std::lock_guard guard(mutex_);
        found_runs_ = std::make_unique<std::vector<RunSummary>>(runs);
        found_progress_ = progress;
      }
      if (wake_) wake_();
    };
    bool complete = true;
    const bool changed =
        reader.scan(folders, runs, [&](size_t done, size_t all, const std::vector<RunSummary>&) {
          std::unique_lock guard(mutex_);
          if (stop_) return complete = false;
          guard.unlock();
          if (first && Clock::now() - reported > std::chrono::milliseconds(200)) {
            publish({done, all});
            reported = Clock::now();
          }
          return true;
        });
    if (complete && (changed || (first && !folders.empty()))) publish({0, 0});
    first = first && folders.empty();
    lock.lock();
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return stop_ || again_; });
  }
}

}  // namespace lunagrad
