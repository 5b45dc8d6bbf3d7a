#include "script/check/check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/core/error.h"
#include "script/check/aside.h"
#include "script/parts/parts.h"
#include "script/run/record.h"
#include "script/run/sweep.h"
#include "script/sweep/board.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;
namespace {

class SweepCheck {
 public:
  SweepCheck(const std::string& folder, bool repair, CheckReport& report)
      : folder_(folder), repair_(repair), report_(report), plan_(read_plan(folder)) {}

  void check() {
    legs_ = read_legs(folder_, int64_t(plan_.trials.size()), plan_.legs);
    const std::vector<Leg> written = legs_with_results(folder_);
    const auto is_done = [&](const Leg& leg) {
      return std::find(legs_.done.begin(), legs_.done.end(), leg) != legs_.done.end();
    };
    for (const Leg& leg : written)  // includes claims that were lost to another worker
      if (!is_done(leg)) check_result(leg, false);
    for (const Leg& leg : legs_.done) check_result(leg, true);
    for (const Leg& leg : legs_.missing) check_missing(leg);
  }

 private:
  void check_result(const Leg& leg, bool counts) {
    const std::string path = path_of_result(folder_, leg);
    try {
      read_result(folder_, leg);
      whole_.insert(leg.name());
    } catch (const Error& error) {
      std::string what = error.what();
      if (what.starts_with(path + ": ")) what = what.substr(path.size() + 2);
      Damage damage{path, std::move(what), ""};
      if (repair_) {
        std::error_code ignored;
        if (fs::exists(path, ignored)) damage.repair = move_aside(folder_, "results/" + leg.name() + ".json");
        if (counts) damage.repair += (damage.repair.empty() ? "" : "; ") + make_result(leg);
      }
      report_.damages.push_back(std::move(damage));
    }
  }

  // The trial's run says how the leg ended. If it does not, the leg is queued to run again.
  std::string make_result(const Leg& leg) {
    if (const std::optional<Result> result = result_of_run(leg)) {
      write_result(folder_, leg, *result);
      whole_.insert(leg.name());
      return "made again from the trial's run";
    }
    move_leg(folder_, kDone, leg, kWaiting, leg);
    return "the trial waits to be run again";
  }

  std::optional<Result> result_of_run(const Leg& leg) const {
    for (const std::string& name : {settled_name(leg.trial), leg.folder(), latest_folder(leg.trial)}) {
      const std::string folder = folder_ + "/trials/" + name;
      if (name.empty() || !is_run(folder)) continue;
      RunRecord run = read_run(folder);
      if (run.damaged > 0 || run.config_damaged) return std::nullopt;
      const std::optional<int64_t> last = plan_.last_step(leg.leg);
      const bool at_rung = last && run.steps >= *last;
      if (!at_rung && run.outcome != "ok") return std::nullopt;
      if (at_rung)
        for (auto& [metric, points] : run.metrics)
          std::erase_if(points, [&](const MetricPoint& point) { return point.step > *last; });
      Result result{.ending = at_rung ? Ending::rung : Ending::finished,
                    .steps = at_rung ? *last : run.steps};
      if (const std::optional<MetricPoint> best = best_of(plan_, run)) {
        result.value = best->value;
        result.value_step = best->step;
      }
      return result;
    }
    return std::nullopt;
  }

  // The run folder of a trial's latest claim.
  std::string latest_folder(int64_t trial) const {
    std::string latest;
    int64_t attempt = -1;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/trials", ignored)) {
      const std::string name = entry.path().filename().string(), begin = settled_name(trial) + ".";
      if (!name.starts_with(begin)) continue;
      const int64_t found = std::strtoll(name.c_str() + begin.size(), nullptr, 10);
      if (found > attempt) latest = name, attempt = found;
    }
    return latest;
  }

  // A leg without its file. While workers run it is not made again, since the leg could then exist twice.
  void check_missing(const Leg& missing) {
    Damage damage{text(folder_, ": leg ", missing.leg + 1, " of trial ", missing.trial),
                  "its file is neither in waiting/ nor in running/ nor in done/", ""};
    if (repair_ && !legs_.running.empty()) {
      report_.notes.push_back(text(folder_, ": trial ", legs_.running.front().trial,
                                   " is running; lost legs are repaired when no trial is"));
    } else if (repair_) {
      Leg again{missing.trial, missing.leg, 0, "new"};
      const char* place = kWaiting;
      for (const Leg& leg : legs_with_results(folder_)) {
        if (leg.trial != missing.trial) continue;
        const bool is_end = leg.leg == missing.leg && whole_.contains(leg.name());
        if (is_end && (place == kWaiting || leg.attempt > again.attempt)) again = leg, place = kDone;
        if (place == kWaiting) again.attempt = std::max(again.attempt, leg.attempt);
      }
      if (place == kWaiting) {
        const std::string folder = latest_folder(missing.trial);
        if (!folder.empty())
          again.attempt = std::max<int64_t>(again.attempt,
                                            std::strtoll(folder.c_str() + folder.find('.') + 1, nullptr, 10));
      }
      const std::string path = text(folder_, "/", place, "/", again.name());
      if (!std::ofstream(path)) fail_as(ErrorKind::file, path, ": cannot be written");
      damage.repair = "made again: " + path;
    }
    report_.damages.push_back(std::move(damage));
  }

  const std::string folder_;
  const bool repair_;
  CheckReport& report_;
  const Plan plan_;
  Legs legs_;
  std::set<std::string> whole_;  // the claims whose results can be read
};

void check_folder(const std::string& named, bool repair, CheckReport& report) {
  const std::string folder = named.substr(0, named.find_last_not_of('/') + 1);
  ++report.sweeps;
  repair = repair && may_repair(folder, report);
  try {
    SweepCheck(folder, repair, report).check();
  } catch (const Error& error) {
    report.damages.push_back({folder, error.what(), ""});
  }
  for (const std::string& run : find_runs(folder + "/trials")) check_run(run, repair, report);
}

SweepSummary read_summary(const std::string& folder) {
  const Plan plan = read_plan(folder);
  SweepSummary summary{plan.script, {}, plan.metric, plan.maximize};
  for (const Axis& axis : plan.axes)
    if (axis.log) summary.logarithmic.insert(axis.name);
  return summary;
}

constexpr SweepReader kSweepReader{read_summary, sweep::origin_of_sweep, check_folder};

}  // namespace
}  // namespace lunagrad::sweep

namespace lunagrad {

void add_part_sweeps(Parts& all) { all.sweeps = &sweep::kSweepReader; }

}  // namespace lunagrad
