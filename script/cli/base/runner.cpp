#include "script/cli/base/runner.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/core/terminal_text.h"
#include "runtime/core/work_times.h"
#include "runtime/cpu/parallel.h"
#include "runtime/dist/world.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/temporary_folder.h"
#include "script/cli/base/leak_table.h"
#include "script/cli/base/signals.h"
#include "script/cli/base/watch.h"
#include "script/cli/ranks/rank_warnings.h"
#include "script/guard/guard.h"
#include "script/guard/run_limits.h"
#include "script/run/json.h"

namespace lunagrad {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// After SIGTERM the step has kTerminateGrace to end. An interrupted script has kUnwindGrace to unwind.
constexpr std::chrono::seconds kTerminateGrace{10};
constexpr std::chrono::seconds kUnwindGrace{1};
// At the time limit a step of lg.run.steps may still end, to write its checkpoint.
constexpr std::chrono::seconds kLimitGrace{10};
// A call of Lua's own library, such as string.find, does not react to requests. The program ends when a
// script stays in one for this many seconds after a stop, or after an interrupt.
constexpr double kStopSilence = 12, kInterruptSilence = 2, kSilencePoll = 0.25;
// --watch: seconds between two checks of the files.
constexpr double kWatchSeconds = 0.15;

const char* outcome_name(const Event& event) {
  switch (event.outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::usage:
      return "usage";
    case Outcome::numeric:
      return "numeric";
    case Outcome::device:
      return "device";
    case Outcome::file:
      return "file";
    case Outcome::memory:
      return "memory";
    case Outcome::stopped:
      return "stopped";
    case Outcome::error:
      break;
  }
  return "error";
}

void add_place(Json& json, const SourcePlace& place) {
  if (place.file.empty()) return;
  json["file"] = path_text(place.file);
  json["line"] = place.line;
}

// An event as a line of JSON; "" for kinds that are not written.
std::string json_line(const Event& event) {
  Json json;
  switch (event.kind) {
    case Event::Kind::step:
      json = {{"event", "step"}, {"time", event.time}, {"step", event.step}};
      if (event.total > 0) json["total"] = event.total;
      break;
    case Event::Kind::metrics: {
      Json metrics = Json::object();
      for (const auto& [name, value] : event.metrics) metrics[name] = json_number(value);
      json = {{"event", "log"}, {"time", event.time}, {"step", event.step}, {"metrics", metrics}};
      break;
    }
    case Event::Kind::param:
      json = {
          {"event", "param"}, {"time", event.time}, {"name", event.metrics[0].first}, {"value", event.text}};
      break;
    case Event::Kind::run_folder:
      json = {{"event", "run"}, {"time", event.time}, {"path", path_text(event.text)}};
      break;
    case Event::Kind::checkpoint:
      json = {{"event", "checkpoint"},
              {"time", event.time},
              {"step", event.step},
              {"path", path_text(event.text)}};
      break;
    case Event::Kind::reload:
      json = {{"event", "reload"}, {"time", event.time}, {"step", event.step}, {"message", event.text}};
      break;
    case Event::Kind::surgery:
      json = {{"event", "surgery"}, {"time", event.time}, {"step", event.step}, {"message", event.text}};
      break;
    case Event::Kind::image:
      json = {{"event", "image"},   {"time", event.time},          {"step", event.step},
              {"name", event.text}, {"width", event.media->width}, {"height", event.media->height}};
      if (!event.media->file.empty()) json["file"] = path_text(event.media->file);
      break;
    case Event::Kind::histogram: {
      const Media& media = *event.media;
      json = {{"event", "histogram"},
              {"time", event.time},
              {"step", event.step},
              {"name", event.text},
              {"count", media.count},
              {"zeros", media.zeros},
              {"nan", media.nans},
              {"inf", media.infinities},
              {"min", json_number(media.min)},
              {"max", json_number(media.max)},
              {"mean", json_number(media.mean)},
              {"std", json_number(media.std)},
              {"edges", media.edges},
              {"counts", media.counts}};
      break;
    }
    case Event::Kind::text:
      json = {{"event", "text"},
              {"time", event.time},
              {"step", event.step},
              {"name", event.text},
              {"text", event.media->text}};
      break;
    case Event::Kind::warning:
      json = {{"event", "warning"}, {"time", event.time}, {"message", event.text}};
      break;
    case Event::Kind::not_finite:
      json = {{"event", "not_finite"}, {"time", event.time}, {"step", event.step}, {"message", event.text}};
      add_place(json, event.place);
      break;
    case Event::Kind::growth:
      json = {{"event", "growth"},
              {"time", event.time},
              {"step", event.step},
              {"name", event.subject},
              {"message", event.text}};
      add_place(json, event.place);
      break;
    case Event::Kind::error:
      json = {{"event", "error"}, {"time", event.time}, {"message", event.text}};
      add_place(json, event.place);
      break;
    case Event::Kind::ended:
      json = {{"event", "end"},
              {"time", event.time},
              {"outcome", outcome_name(event)},
              {"exit_code", event.exit_code}};
      if (!event.text.empty()) json["incomplete"] = event.text;
      break;
    case Event::Kind::output:
    case Event::Kind::state:
    case Event::Kind::break_hit:
    case Event::Kind::probe:
    case Event::Kind::source:
      return {};
  }
  return json_text(json) + "\n";
}

// A line for each kernel that the devices ran, the most frequent first.
std::string kernel_table() {
  std::vector<KernelUse> used;
  for (const auto& device : devices())
    if (const auto* const times = dynamic_cast<const WorkTimes*>(device.get()))
      for (KernelUse& kernel : times->kernels()) used.push_back(std::move(kernel));
  if (used.empty()) return "lunagrad: no kernels: nothing ran on a GPU\n";
  std::stable_sort(used.begin(), used.end(),
                   [](const KernelUse& a, const KernelUse& b) { return a.dispatches > b.dispatches; });
  std::string table = "dispatches  kernel\n";
  for (const KernelUse& kernel : used) {
    const std::string count = std::to_string(kernel.dispatches);
    table += std::string(10 - std::min<size_t>(10, count.size()), ' ') + count + "  " + kernel.name + "\n";
  }
  return table;
}

class Runner {
 public:
  explicit Runner(const RunRequest& request)
      : request_(request),
        watching_(request.watch && std::filesystem::exists(request.script)),
        progress_(resolve(request.progress, request.json)),
        session_([this](const Event& event) { handle(event); }, {.process_streams = true}) {}

  int run() {
    if (request_.json) announce();
    const Clock::time_point start = Clock::now();
    if (watching_) begin_watching();
    if (request_.before) request_.before(session_);
    if (!request_.profile.empty()) session_.watch_profile(true);
    if (request_.script.empty()) {
      session_.run_text(request_.code, request_.chunk, request_.options);
    } else {
      session_.run_file(request_.script, request_.options);
    }
    const bool limited = request_.options.timeout > 0;
    const auto limit = start + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(limited ? request_.options.timeout : 0));
    int seen = 0;
    bool between_runs = false;  // the first signal came while --watch waited for a change
    Clock::time_point terminate_at = Clock::time_point::max();
    while (!ended_.load() || goes_on(seen)) {
      Clock::time_point wake_at = !limited    ? Clock::time_point::max()
                                  : at_limit_ ? limit + kLimitGrace
                                              : limit;
      wake_at = std::min(wake_at, terminate_at);
      if (watching_ && seen == 0)
        wake_at = std::min(wake_at, Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                       std::chrono::duration<double>(kWatchSeconds)));
      if (seen > 0)
        wake_at = std::min(wake_at, Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                       std::chrono::duration<double>(kSilencePoll)));
      signals_.wait(wake_at == Clock::time_point::max()
                        ? -1
                        : std::max(0.0, std::chrono::duration<double>(wake_at - Clock::now()).count()));
      if (ended_.load() && !watching_) break;
      if (limited && Clock::now() >= limit && !at_limit_ && stepping_.load() && !request_.options.sandbox) {
        at_limit_ = true;
        say("lunagrad: time limit reached; the step may end\n");
        session_.stop();
      }
      if (limited && Clock::now() >= (at_limit_ ? limit + kLimitGrace : limit))
        return give_up(kExitTimeout, "time limit reached");
      for (; checkpoints_ < signals_.checkpoints_asked(); ++checkpoints_) session_.checkpoint();
      if (const std::string stuck = stuck_in(seen); !stuck.empty())
        return give_up(128 + signals_.last(), ("ended: the script does not come back from " + stuck).c_str());
      if (Clock::now() >= terminate_at) return give_up(128 + SIGTERM, "terminated");
      if (watching_ && signals_.count() == 0 && watch_.changed(session_.files())) session_.reload();
      for (; seen < signals_.count(); ++seen) {
        if (seen > 0) {
          session_.interrupt();
          continue;
        }
        between_runs = ended_.load();
        session_.stop();  // between two runs: stops a run that a change is about to start
        if (!between_runs) say("lunagrad: stopping at the end of the step; once more to stop now\n");
        if (signals_.last() == SIGTERM) terminate_at = Clock::now() + kTerminateGrace;
      }
    }
    if (between_runs) {
      session_.wait();  // waits for a run that began but ran no line
      outcome_ = Outcome::stopped;
      exit_code_ = int(Outcome::stopped);
    }
    tell_end();
    // Closing the Lua state runs finalizers, which cannot be interrupted: they have the rest of the time
    // limit.
    if (limited) end_at(at_limit_ ? limit + kLimitGrace : limit);
    if (request_.after && seen == 0 && !at_limit_) {
      const auto wait = [&] {
        if (signals_.count() == 0) signals_.wait(kSilencePoll);
        return signals_.count() > 0;
      };
      exit_code_ = request_.after(session_, exit_code_, wait);
      if (signals_.count() > 0) outcome_ = Outcome::stopped;
    }
    if (at_limit_ && outcome_ == Outcome::stopped) return kExitTimeout;
    if (outcome_ == Outcome::stopped && signals_.last() == SIGTERM) return 128 + SIGTERM;
    return exit_code_;
  }

 private:
  void announce() {
    Json json = {{"event", "start"},
                 {"script", path_text(request_.script.empty() ? request_.chunk : request_.script)}};
    json["arguments"] = path_texts(request_.options.arguments);
    json["seed"] = request_.options.seed.value_or(0);
    json["device"] = request_.options.device.empty() ? "cpu" : request_.options.device;
    print_json(json_text(json) + "\n");
  }

  // Where the script is stuck when it reaches no safe point after `seen` signals, as "string.find (a.lua:3)";
  // "" while it may still end by itself.
  std::string stuck_in(int seen) const {
    if (seen == 0 || ended_.load()) return {};
    const std::optional<Silence> silence = session_.silence();
    if (!silence) return {};
    if (seen > 1 ? silence->seconds < kInterruptSilence
                 : silence->call.empty() || silence->seconds < kStopSilence)
      return {};
    if (silence->call.empty()) return "what it computes";
    return text(silence->call, " (", silence->place.file, ":", silence->place.line, ")");
  }

  // --watch

  void begin_watching() {
    watch_.changed({request_.script});
    say("lunagrad: watching " + request_.script + "; Ctrl-C ends\n");
  }

  // After a script has ended: whether to wait for a change of its file (with --watch, until a signal comes).
  bool goes_on(int signals_seen) {
    if (!watching_ || signals_seen > 0) return false;
    if (!end_reported_.exchange(true)) {
      tell_end();
      say("lunagrad: waiting for a change of " + request_.script + "; Ctrl-C ends\n");
    }
    return true;
  }

  void tell_end() {
    warnings_.settle();
    progress_.finish();
    if (!request_.profile.empty()) write_profile();
    // All ranks run the same script.
    if (request_.options.leaks > 0 && !request_.json && dist::launched_rank() <= 0)
      say(leak_table(session_.leaks().get()));
    if (request_.kernels) say(kernel_table());
    if (!folder_.empty() && !incomplete_ && !request_.json && request_.announce_folder)
      say("run saved in " + folder_ + "\n");
  }

  // Called before the script's end is announced, since its exit code depends on leaks.
  void judge_leaks(Event& event) {
    const std::shared_ptr<const LeakReport> report = session_.leaks();
    if (event.exit_code == 0 && report && !report->leaks.empty()) event.exit_code = kExitLeak;
    if (!request_.json || dist::launched_rank() > 0) return;
    print_json(leak_lines(report.get()));
  }

  void write_profile() {
    if (dist::launched_rank() > 0) return;  // rank 0 writes the profile of all ranks
    const std::shared_ptr<const ProfileView> profile = session_.profile();
    const std::shared_ptr<const RankProfile> ranks = session_.rank_profile();
    if (ranks) say(text("ranks in ", ranks->measured, " steps:\n", rank_table(*ranks)));
    if (!profile) return say("lunagrad: nothing was measured: no profile\n");
    try {
      write_file(request_.profile_target.empty() ? request_.profile : request_.profile_target,
                 trace_json(*profile, ranks.get()));
      say(text("profile of ", profile->steps.size(), " steps saved in ", request_.profile, " (",
               profile->measured, " of ", profile->measured + profile->passed_over, " were measured)\n"));
    } catch (const Error& error) {
      say(text("lunagrad: ", error.what(), "\n"));
      if (exit_code_ == 0) exit_code_ = int(Outcome::file);
    }
  }

  // Called on the session's thread.
  void handle(Event event) {
    warnings_.look();
    if (request_.also) request_.also(event);
    if (event.kind == Event::Kind::ended && request_.options.leaks > 0) judge_leaks(event);
    if (request_.json) print_json(json_line(event));
    switch (event.kind) {
      case Event::Kind::output:
        progress_.write(request_.json || request_.after ? stderr : stdout, event.text);
        break;
      case Event::Kind::warning:
      case Event::Kind::not_finite:
      case Event::Kind::growth:
        warnings_.add(event.text);
        break;
      case Event::Kind::error:
        say(event.text + (event.text.ends_with('\n') ? "" : "\n"));
        break;
      case Event::Kind::step:
        stepping_.store(true);
        progress_.step(event.step, event.total);
        // Stops at the end of this step: its safe point comes next. After the last step the script ends by
        // itself.
        if (request_.stop_at && event.step >= *request_.stop_at && event.step != event.total) session_.stop();
        break;
      case Event::Kind::metrics:
        progress_.metrics(event);
        break;
      case Event::Kind::run_folder:
        folder_ = event.text;
        break;
      case Event::Kind::state:
        if (event.state != SessionState::running) break;
        ended_.store(false);
        end_reported_.store(false);
        break;
      case Event::Kind::reload:
        say("reloaded " + request_.script + (event.step > 0 ? text(" at step ", event.step) : "") + ": " +
            event.text + "\n");
        break;
      case Event::Kind::checkpoint:
        if (!request_.json) say("checkpoint saved in " + event.text + "\n");
        break;
      case Event::Kind::ended:
        outcome_ = event.outcome;
        exit_code_ = event.exit_code;
        incomplete_ = !event.text.empty();
        ended_.store(true);
        signals_.wake();
        break;
      default:
        break;
    }
  }

  void say(const std::string& text) { progress_.write(stderr, terminal_text(text)); }

  static void print_json(const std::string& text) {
    const std::string lines = terminal_text(text);  // control characters as JSON escapes
    std::fwrite(lines.data(), 1, lines.size(), stdout);
  }

  static void end_at(Clock::time_point limit) {
    signal(SIGALRM, [](int) { _exit(kExitTimeout); });
    const double left = std::max(0.001, std::chrono::duration<double>(limit - Clock::now()).count());
    const itimerval timer{{0, 0}, {time_t(left), suseconds_t(std::fmod(left, 1.0) * 1e6)}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  // Ends the process after at most kUnwindGrace, so a finalizer that loops cannot prevent it.
  int give_up(int code, const char* why) {
    say(std::string("lunagrad: ") + why + "\n");
    session_.interrupt();
    const Clock::time_point limit = Clock::now() + kUnwindGrace;
    while (!ended_.load() && Clock::now() < limit) signals_.wait(0.05);
    TemporaryFolder::remove_all();
    // In a sandbox these folders could not be removed, only emptied.
    for (const std::string& folder : request_.guard.temporary) ::rmdir(folder.c_str());
    _exit(code);
  }

  const RunRequest& request_;
  const bool watching_;  // false when the script does not exist: the run then fails as without --watch
  Signals signals_;
  Progress progress_;
  RankWarnings warnings_{[this](const std::string& line) { say(line + "\n"); }};
  Watch watch_;
  // The session's thread writes folder_, incomplete_, outcome_ and exit_code_ before it sets ended_.
  std::string folder_;
  bool incomplete_ = false;  // some files of the run could not be written
  std::atomic<bool> ended_{false}, end_reported_{false}, stepping_{false};
  bool at_limit_ = false;
  int checkpoints_ = 0;  // requests by SIGUSR1 handled so far
  Outcome outcome_ = Outcome::ok;
  int exit_code_ = 0;
  Session session_;  // the last member, because its thread uses the others
};

// The profile is written at the end, into a file that is opened before the sandbox starts. Returns a name
// through which the limits allow the write.
std::string opened_before(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? path : text("/dev/fd/", file);
}

// Runs a sandboxed script, with the kernel's limits on the whole process.
int run_guarded(RunRequest request) {
  GuardLimits limits = request.guard;
  std::optional<TemporaryFolder> aside;
  if (request.options.files_aside) {
    request.options.aside_folder = aside.emplace().path();
    limits.temporary.push_back(aside->path());
  }
  if (!request.profile.empty()) request.profile_target = opened_before(request.profile);
  add_run_limits(limits, request.script, request.options, request.watch);
  request.guard = limits;
  request.options.guarded = true;
  request.options.unguarded = guard_process(limits).missing;
  if (const std::string& sentence = unguarded_sentence(request.options.unguarded); !sentence.empty())
    std::cerr << "lunagrad: " << sentence << "\n";
  return Runner(request).run();
}

}  // namespace

int run_and_wait(const RunRequest& request) {
  if (request.threads) set_thread_count(int(*request.threads));
  return request.options.sandbox ? run_guarded(request) : Runner(request).run();
}

int run_code(const std::string& code, std::vector<std::string> arguments, RunRequest request) {
  request.code = code;
  request.options.arguments = std::move(arguments);
  request.options.preload = true;
  request.options.write_run = false;
  return run_and_wait(request);
}

}  // namespace lunagrad
