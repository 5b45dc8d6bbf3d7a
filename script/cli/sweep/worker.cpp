#include "script/cli/sweep/worker.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/system/libraries.h"
#include "script/cli/base/signals.h"
#include "script/cli/sweep/child.h"
#include "script/cli/sweep/report.h"
#include "script/run/folder.h"
#include "script/sweep/heartbeat.h"
#include "script/sweep/trial_folder.h"
#include "script/trust/inside.h"
#include "script/view/run.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;
namespace {

constexpr int kListen = 200;     // milliseconds between two checks of signals and the claim
constexpr double kIdle = 0.5;    // seconds between two checks of a sweep that has nothing to claim
constexpr int kMostDeaths = 10;  // of a trial's process in a row without a new checkpoint
constexpr int kStopped = 130, kTerminated = 143;

std::string text_of_signal(int signal) { return text("signal ", signal, " (", strsignal(signal), ")"); }

// The step in the name of a checkpoint, 0 for "".
int64_t step_of(const std::string& checkpoint) {
  const std::string name = fs::path(checkpoint).stem().string();  // step-00000100
  return checkpoint.empty() ? 0 : std::strtoll(name.c_str() + std::strlen("step-"), nullptr, 10);
}

class Worker {
 public:
  explicit Worker(const WorkerOptions& options)
      : options_(options),
        sweep_(fs::absolute(options.sweep).lexically_normal().string()),
        board_(sweep_),
        script_(options.confined ? sweep_ + "/script.lua" : board_.plan().script),
        directory_(options.confined ? sweep_ : board_.plan().directory),
        heart_(sweep_, options.patience),
        watcher_(sweep_, options.patience) {}

  int work() {
    if (options_.confined) require_inside(sweep_);
    check_script(plan(), script_);
    if (options_.retry_failed) retry_failed();
    while (!stopping()) {
      heart_.beat();
      board_.refresh();
      if (const std::string damage = board_.damage(); damage != std::exchange(damage_, damage))
        if (!damage.empty()) report_.warn(damage);
      report_.know(board_);
      std::optional<Leg> rest;
      if (const std::optional<Leg> claim = claim_one(rest)) {
        carry_out(*claim, rest);
      } else if (!goes_on()) {
        break;
      } else {
        report_.waiting();
        signals_.wait(std::min(kIdle, options_.patience / 10));
      }
    }
    return conclude();
  }

 private:
  const Plan& plan() const { return board_.plan(); }
  bool stopping() const { return signals_.count() > 0 || signals_.checkpoints_asked() > 0; }

  // Queues failed legs again. This worker does not retry a leg that fails again.
  void retry_failed() {
    for (const Leg& leg : board_.legs().done)
      if (board_.result(leg).ending == Ending::failed) move_leg(sweep_, kDone, leg, kWaiting, leg);
  }

  // ---- claims

  Leg own(const Leg& leg) const { return {leg.trial, leg.leg, leg.attempt + 1, heart_.worker()}; }

  // Claims legs of dead workers first, then waiting legs. `rest`: the earlier claim that was given back, or
  // the claim of the previous rung.
  std::optional<Leg> claim_one(std::optional<Leg>& rest) {
    for (const Leg& leg : board_.legs().running) {
      if (watcher_.look(leg.worker) != Watcher::Liveness::dead) continue;
      if (move_leg(sweep_, kRunning, leg, kRunning, own(leg))) return own(leg);
    }
    for (const Leg& leg : board_.claimable()) {
      Leg file = leg;  // a promoted leg continues the claim count of the leg before
      if (leg.leg > 0) {
        const auto& waiting = board_.legs().waiting;
        file = *std::find_if(waiting.begin(), waiting.end(), [&](const Leg& other) {
          return other.trial == leg.trial && other.leg == leg.leg;
        });
      }
      if (!move_leg(sweep_, kWaiting, file, kRunning, own(leg))) continue;
      rest = file;
      if (file.attempt == 0 && leg.leg > 0)
        for (const Leg& done : board_.legs().done)
          if (done.trial == leg.trial && done.leg == leg.leg - 1) rest = done;
      return own(leg);
    }
    return std::nullopt;
  }

  // Whether to check again later although nothing can be claimed now.
  bool goes_on() {
    if (board_.over()) return false;
    const bool lost = missing_for_long();
    if (lost && board_.legs().running.empty()) fail_lost();
    if (options_.wait || (!board_.legs().missing.empty() && !lost)) return true;
    // A worker that was not watched for long enough may be dead.
    for (const Leg& leg : board_.legs().running)
      if (watcher_.look(leg.worker) != Watcher::Liveness::alive) return true;
    return false;
  }

  // Whether the same legs have had no file for as long as a worker may be silent.
  bool missing_for_long() {
    const auto now = std::chrono::steady_clock::now();
    if (board_.legs().missing != missing_) {
      missing_ = board_.legs().missing;
      missing_since_ = now;
    }
    return !missing_.empty() &&
           std::chrono::duration<double>(now - missing_since_).count() > options_.patience;
  }

  [[noreturn]] void fail_lost() const {
    std::string trials;
    for (const Leg& leg : missing_) trials += text(trials.empty() ? "" : ", ", leg.trial);
    fail_as(ErrorKind::file, sweep_, ": the files of ", missing_.size(),
            missing_.size() == 1 ? " leg" : " legs", " are lost (trial ", trials,
            "), so no worker can run them; lunagrad runs check --repair ", options_.sweep,
            " makes them again");
  }

  void give_back(const Leg& claim) { move_leg(sweep_, kRunning, claim, kWaiting, claim); }

  // ---- one leg

  void carry_out(const Leg& claim, const std::optional<Leg>& rest) {
    try {
      const std::string folder = prepare_folder(sweep_, claim, rest);
      const std::optional<Result> result = run(claim, folder);
      if (!holds(sweep_, claim)) {
        lost(claim);
      } else if (!result) {
        give_back(claim);
      } else {
        finish(claim, *result);
      }
    } catch (const std::exception&) {
      give_back(claim);  // the fault is in this computer, such as a full disk: others may go on
      throw;
    }
  }

  void lost(const Leg& claim) {
    remove_folder(sweep_, claim);
    report_.warn(
        text("trial ", claim.trial, " was taken over by another worker, for which this one stood still"));
  }

  void finish(const Leg& claim, const Result& result) {
    write_result(sweep_, claim, result);
    if (!move_leg(sweep_, kRunning, claim, kDone, claim)) return lost(claim);
    if (result.ending != Ending::rung) settle_folder(sweep_, claim);
    failed_ |= result.ending == Ending::failed;
    report_.ended(plan(), claim, result);
  }

  std::vector<std::string> command(const Leg& claim, const std::string& folder) const {
    const std::string checkpoint = latest_checkpoint(folder);
    std::vector<std::string> argv = {own_program(), "run", script_, "--json"};
    const auto add = [&](const char* option, const std::string& value) {
      argv.push_back(option);
      argv.push_back(value);
    };
    add(checkpoint.empty() ? "--run-dir" : "--resume", folder);
    const std::vector<std::string>& values = plan().trials[size_t(claim.trial - 1)];
    for (size_t i = 0; i < values.size(); ++i) add("--set", plan().axes[i].name + "=" + values[i]);
    for (const auto& [name, value] : plan().set) add("--set", name + "=" + value);
    add("--seed", std::to_string(plan().seed));
    add("--threads", std::to_string(plan().threads));
    add("--guard", plan().guard);
    add("--checkpoint-every", text(plan().checkpoint_every));
    if (options_.sandbox || options_.confined) argv.push_back("--sandbox");
    if (options_.memory > 0) add("--memory", std::to_string(options_.memory >> 20));
    if (options_.disk > 0) add("--disk", std::to_string(options_.disk >> 20));
    if (!plan().device.empty()) add("--device", plan().device);
    if (plan().steps) add("--steps", std::to_string(*plan().steps));
    if (const auto last = plan().last_step(claim.leg)) add("--stop-at", std::to_string(*last));
    argv.push_back("--");
    argv.insert(argv.end(), plan().arguments.begin(), plan().arguments.end());
    return argv;
  }

  // Runs the leg to its end. Returns nothing when a signal came or the claim is lost.
  std::optional<Result> run(const Leg& claim, const std::string& folder) {
    int deaths = 0;
    std::string checkpoint = latest_checkpoint(folder);
    while (!stopping() && holds(sweep_, claim)) {
      check_script(plan(), script_);
      const int64_t kept = rows_until(folder, step_of(checkpoint));
      Child child(command(claim, folder), directory_, plan().metric);
      if (!follow(claim, child)) return std::nullopt;
      if (child.exit_code() == 0) return finished(folder, child, kept, Ending::finished);
      const std::optional<int64_t> last = plan().last_step(claim.leg);
      if (child.exit_code() == kStopped && last && child.step() >= *last)
        return finished(folder, child, kept, Ending::rung);
      const bool killed =
          child.signal() != 0 || child.exit_code() == kStopped || child.exit_code() == kTerminated;
      if (!killed) return failed(folder, child, child.error());
      if (stopping()) return std::nullopt;
      const std::string newest = latest_checkpoint(folder);
      deaths = newest == checkpoint ? deaths + 1 : 1;
      checkpoint = newest;
      if (deaths == kMostDeaths) {
        const std::string how = child.signal() ? text_of_signal(child.signal()) : "a signal";
        return failed(folder, child, text("ended by ", how, " ", deaths, " times without a new checkpoint"));
      }
      std::error_code ignored;
      if (newest.empty()) fs::remove_all(folder, ignored);  // without a checkpoint the run begins again
    }
    return std::nullopt;
  }

  // Waits for the process. False when a signal came or the claim is lost.
  bool follow(const Leg& claim, Child& child) {
    bool stopped = false;
    while (child.listen(kListen)) {
      report_.progress(plan(), claim, child);
      heart_.beat();
      if (!holds(sweep_, claim)) return false;  // the destructor ends the process
      if (stopping() && !stopped) {
        stopped = true;
        child.stop();
        report_.warn(text("trial ", claim.trial, " stops at the end of its step"));
      }
      if (signals_.count() > 1) child.kill();
    }
    return true;
  }

  // How many rows of the metric stay when a run continues after a step.
  int64_t rows_until(const std::string& folder, int64_t step) const {
    if (!is_run(folder) || latest_checkpoint(folder).empty()) return 0;
    RunRecord run = read_run(folder);
    go_back(run, step);
    const auto found = run.metrics.find(plan().metric);
    return found == run.metrics.end() ? 0 : int64_t(found->second.size());
  }

  Result finished(const std::string& folder, const Child& child, int64_t kept, Ending ending) const {
    if (!is_run(folder)) return failed(folder, child, "the script has no lg.run.steps and logs nothing");
    const RunRecord run = read_run(folder);
    const auto rows = run.metrics.find(plan().metric);
    if (const int64_t count = rows == run.metrics.end() ? 0 : int64_t(rows->second.size());
        count != kept + child.rows())
      fail_as(ErrorKind::file, folder, "/metrics.jsonl: holds ", count, " of ", kept + child.rows(),
              " values of ", plan().metric, run.damaged > 0 ? ": it is damaged" : ": is the disk full?");
    Result result;
    result.ending = ending;
    result.steps = run.steps;
    if (const std::optional<MetricPoint> best = best_of(plan(), run)) {
      result.value = best->value;
      result.value_step = best->step;
    } else if (rows == run.metrics.end()) {
      std::string names;
      for (const auto& [name, points] : run.metrics) names += (names.empty() ? "" : ", ") + name;
      return failed(folder, child,
                    text("the script logs no ", plan().metric, names.empty() ? "" : "; it logs " + names,
                         ": sweep new --minimize NAME"));
    }
    return result;
  }

  Result failed(const std::string& folder, const Child& child, const std::string& error) const {
    // Every trial would fail this way, so no other is tried.
    if (child.exit_code() == int(Outcome::usage) && error.find("declares no parameter") != std::string::npos)
      throw Error(error + "; make a new sweep");
    // The fault is in this computer: a worker without the device must not fail trials that other workers
    // could run.
    if (child.exit_code() == int(Outcome::device)) throw Error(error, ErrorKind::device);
    if (child.incomplete()) throw Error(error, ErrorKind::file);  // for example a full disk
    Result result;
    result.ending = Ending::failed;
    result.error = error.empty() ? text("exit code ", child.exit_code()) : error;
    result.exit_code = child.exit_code();
    if (is_run(folder)) result.steps = read_run(folder).steps;
    return result;
  }

  // ---- the end

  int conclude() {
    board_.refresh();
    if (board_.over()) {
      for (const Leg& leg : board_.legs().done) settle_folder(sweep_, leg);
      std::error_code ignored;
      fs::remove_all(sweep_ + "/copies", ignored);
      for (const fs::directory_entry& file : fs::directory_iterator(sweep_ + "/workers", ignored))
        if (watcher_.look(file.path().filename().string()) == Watcher::Liveness::dead)
          fs::remove(file, ignored);
    } else if (!stopping()) {
      report_.warn("other workers run the rest; --wait waits for them");
    }
    if (signals_.count() > 0) return 128 + signals_.last();
    if (stopping()) return kTerminated;
    return failed_ ? int(Outcome::error) : 0;
  }

  const WorkerOptions& options_;
  const std::string sweep_;
  Board board_;
  const std::string script_, directory_;  // the trials' script and working directory
  Heartbeat heart_;
  Watcher watcher_;
  Signals signals_;
  Report report_;
  bool failed_ = false;
  std::string damage_;        // the sweep's damage that was already reported
  std::vector<Leg> missing_;  // legs without a file
  std::chrono::steady_clock::time_point missing_since_;
};

}  // namespace

int work(const WorkerOptions& options) { return Worker(options).work(); }

}  // namespace lunagrad::sweep
