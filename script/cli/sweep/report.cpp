#include "script/cli/sweep/report.h"

#include <cstdio>
#include <set>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/core/terminal_text.h"
#include "script/cli/base/progress.h"

namespace lunagrad::sweep {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

std::string values_text(const Plan& plan, int64_t trial) {
  std::string all;
  const std::vector<std::string>& values = plan.trials[size_t(trial - 1)];
  for (size_t i = 0; i < values.size(); ++i) all += (i ? ", " : "") + plan.axes[i].name + " " + values[i];
  return all;
}

Report::Report() : terminal_(resolve(ProgressStyle::automatic, false) == ProgressStyle::bar) {}
Report::~Report() { clear(); }

void Report::say(const std::string& line) {
  clear();
  std::printf("%s\n", terminal_line(line).c_str());
}

void Report::warn(const std::string& line) {
  clear();
  std::fprintf(stderr, "lunagrad sweep join: %s\n", terminal_text(line).c_str());
}

void Report::ended(const Plan& plan, const Leg& leg, const Result& result) {
  std::string how = result.ending == Ending::failed ? "failed: " + result.error
                    : result.ending == Ending::rung ? text("waits at step ", result.steps)
                                                    : "finished";
  if (result.ending != Ending::failed)
    how += result.value
               ? text(", ", plan.metric, " ", number_figure(*result.value), " at step ", result.value_step)
               : ", no finite " + plan.metric;
  say(text("trial ", leg.trial, ": ", how, " (", values_text(plan, leg.trial), ")"));
}

void Report::know(const Board& board) {
  const Plan& plan = board.plan();
  int64_t ended = 0;
  const Leg* best = nullptr;
  for (const Leg& leg : board.legs().done) {
    const Result& result = board.result(leg);
    ended += result.ending != Ending::rung;
    if (result.value && (!best || plan.better(*result.value, *board.result(*best).value))) best = &leg;
  }
  std::set<int64_t> running;
  for (const Leg& leg : board.legs().running) running.insert(leg.trial);
  known_ = text(ended, "/", plan.trials.size(), " ended");
  if (!running.empty()) known_ += text(", ", running.size(), " in other workers");
  if (best)
    known_ += text(", best ", number_figure(*board.result(*best).value), " (trial ", best->trial, ")");
}

void Report::progress(const Plan& plan, const Leg& leg, const Child& child) {
  std::string doing = text("trial ", leg.trial, ": ", child.step());
  if (child.total() > 0) doing += text("/", plan.last_step(leg.leg).value_or(child.total()));
  if (child.latest()) doing += text("  ", plan.metric, " ", number_figure(*child.latest()));
  draw(doing);
}

void Report::waiting() { draw("waiting for other workers"); }

void Report::draw(const std::string& doing) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || (drawn_ && now - last_ < kRedraw)) return;
  last_ = now;
  drawn_ = true;
  const std::string line = cut_to_columns(terminal_line(known_ + " | " + doing), terminal_width() - 1);
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
}

void Report::clear() {
  if (!drawn_) return;
  drawn_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace lunagrad::sweep
