#include "ui/record/actions.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

constexpr size_t kMostBytes = size_t(64) << 20, kMostLines = 100000;

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

std::string reach(const Actions::Moment& moment) {
  ActionFields fields{{"state", moment.state}, {"step", double(moment.step)}};
  if (moment.pauses > 0) fields["pauses"] = double(moment.pauses);
  if (moment.ended > 0) fields["ended"] = double(moment.ended);
  return call_as_lua("reach", {fields});
}

}  // namespace

void Actions::add(Action action) { actions_.push_back(std::move(action)); }

const Action* Actions::find(const std::string& name) const {
  const auto found =
      std::find_if(actions_.begin(), actions_.end(), [&](const Action& a) { return a.name == name; });
  return found == actions_.end() ? nullptr : &*found;
}

void Actions::perform(const std::string& name, const ActionValues& values, bool goes_on) {
  const Action* action = find(name);
  if (!action) fail("ui.", name, ": there is no such action");
  carry_out(name, values, goes_on, [&] { action->run({name, values}); });
}

void Actions::act_as(const std::string& name, const ActionValues& values, const std::function<void()>& run) {
  carry_out(name, values, false, run);
}

void Actions::carry_out(const std::string& name, const ActionValues& values, bool goes_on,
                        const std::function<void()>& run) {
  const Moment before = moment ? moment() : Moment();
  {
    const Quiet parts(*this);
    run();
  }
  if (depth_ == 0) record(before, name, values, goes_on);
}

bool Actions::act(const std::string& name, const ActionValues& values, bool goes_on) {
  try {
    perform(name, values, goes_on);
    return true;
  } catch (const Error& error) {
    if (on_error) on_error(error.what());
    return false;
  }
}

void Actions::note(const std::string& name, const ActionValues& values) {
  record(moment ? moment() : Moment(), name, values, false);
}

void Actions::record(const Moment& now, const std::string& name, const ActionValues& values, bool goes_on) {
  const bool replaces = goes_on && last_ == name && !lines_.empty();
  if (replaces) {
    bytes_ -= lines_.back().text.size();
    lines_.pop_back();
    ++version_;
  } else if (!now.state.empty() && noted_ != now) {
    append(reach(now), true);
    noted_ = now;
  }
  append(call_as_lua(name, values), false);
  last_ = name;
  drop_oldest();
}

void Actions::append(std::string text, bool waits) {
  bytes_ += text.size();
  lines_.push_back({std::move(text), clock_time(), waits});
}

void Actions::drop_oldest() {
  while (lines_.size() > 1 && (bytes_ > kMostBytes || lines_.size() > kMostLines)) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
    ++dropped_;
  }
}

void Actions::clear() {
  dropped_ += lines_.size();
  lines_.clear();
  noted_.reset();
  last_.clear();
  bytes_ = 0;
  ++version_;
}

std::string Actions::as_script(const std::string& opened) const {
  std::string text = "-- What was done in a window. To do it again:\n-- lunagrad-workbench ";
  for (const char c : opened) text += c == '\n' ? ' ' : c;
  text += (opened.empty() ? "" : " ") + std::string("--drive THIS_FILE\n");
  if (dropped_ > 0) text += "-- The oldest lines are missing: there were too many.\n";
  for (const Line& line : lines_) text += line.text + "  -- " + line.time + '\n';
  return text;
}

}  // namespace lunagrad
