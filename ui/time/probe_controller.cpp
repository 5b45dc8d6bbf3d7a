#include "ui/time/probe_controller.h"

#include <algorithm>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {

std::string place_of(const Probe& probe) {
  if (probe.place.line == 0) return "the end of each step";
  const std::string line = std::to_string(probe.place.line);
  return probe.place.file.empty() ? "line " + line : probe.place.file + ":" + line;
}

static std::string steps_text(int64_t first, int64_t last) {
  return first == last ? "step " + std::to_string(first)
                       : "steps " + std::to_string(first) + " to " + std::to_string(last);
}

ProbeController::ProbeController(SessionWatches& session, Journal& journal, Actions& actions,
                                 const ReplayController& replay,
                                 std::function<ReplayController::RunNow()> run_now,
                                 const std::function<void()>& wake)
    : session_(session),
      journal_(journal),
      actions_(actions),
      replay_(replay),
      run_now_(std::move(run_now)),
      back_fill_(wake) {
  add_actions();
}

void ProbeController::add_actions() {
  actions_.add(
      {"add_probe", "{expression =, name =, file =, line =}", [this](const ActionArguments& given) {
         const ActionFields& fields = given.fields(0, "probe", {"expression", "name", "file", "line"});
         Probe probe;
         probe.expression = text_field(fields, "expression").value_or("");
         probe.name = text_field(fields, "name").value_or("");
         if (probe.name.empty()) probe.name = probe.expression;
         probe.place.file = text_field(fields, "file").value_or("");
         probe.place.line = int(number_field(fields, "line").value_or(0));
         std::string problem = problem_of(probe);
         if (problem.empty() && (probe.id = session_.add_probe(probe, &problem)) != 0)
           items_.push_back({std::move(probe), {}});
         else
           given.refuse(problem);
       }});
  const auto lacks = [this](const ActionArguments& given) -> std::string {
    if (index_of(given.text(0, "name")) < items_.size()) return "";
    std::string known;
    for (const Item& item : items_) known += (known.empty() ? "" : ", ") + item.probe.name;
    return "there is no probe \"" + given.text(0, "name") + "\"; " +
           (known.empty() ? std::string("there are none") : "there are " + known);
  };
  actions_.add({"remove_probe", "name",
                [this, lacks](const ActionArguments& given) {
                  const size_t index = index_of(given.text(0, "name"));
                  if (index == items_.size()) given.refuse(lacks(given));
                  session_.remove_probe(items_[index].probe.id);
                  journal_.probes().remove(items_[index].probe.id, journal_.curves());
                  items_.erase(items_.begin() + std::ptrdiff_t(index));
                },
                lacks});
  actions_.add({"fill_probe", "name",
                [this, lacks](const ActionArguments& given) {
                  const size_t index = index_of(given.text(0, "name"));
                  if (index == items_.size()) given.refuse(lacks(given));
                  if (std::exchange(items_[index].stopped, false)) items_[index].problem.clear();
                },
                lacks});
  actions_.add({"cancel_fill", "", [this](const ActionArguments&) {
                  if (!back_fill_.progress()) return;
                  back_fill_.cancel();
                  for (Item& item : items_)
                    if (!gap_of(item).empty()) item.stopped = true;
                }});
}

std::string ProbeController::problem_of(const Probe& probe) const {
  const std::string& name = probe.name.empty() ? probe.expression : probe.name;
  if (index_of(name) < items_.size())
    return "there is a probe \"" + name + "\" already: remove it, or give this one another name";
  if (probe.place.line < 0 || (probe.place.line == 0 && !probe.place.file.empty()))
    return "the line must be 1 or more, as in train.lua:12";
  return "";
}

std::string ProbeController::add(const Probe& probe) {
  ActionFields fields;
  fields["expression"] = probe.expression;
  if (!probe.name.empty()) fields["name"] = probe.name;
  if (!probe.place.file.empty()) fields["file"] = probe.place.file;
  if (probe.place.line != 0) fields["line"] = double(probe.place.line);
  try {
    actions_.perform("add_probe", {fields});
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(text.find(": ") + 2);  // without the name of the action
  }
  return "";
}

size_t ProbeController::index_of(const std::string& name) const {
  const auto found =
      std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.probe.name == name; });
  return size_t(found - items_.begin());
}

// Called for another run, or another script in it: adds failed probes again, which may have a value now.
void ProbeController::try_again() {
  back_fill_.cancel();
  for (Item& item : items_) {
    const ProbeCurves::Entry* const known = journal_.probes().find(item.probe.id);
    if ((known && !known->problem.empty()) || !item.problem.empty()) {
      journal_.probes().remove(item.probe.id, journal_.curves());
      session_.remove_probe(item.probe.id);
      item.probe.since = 0;
      item.probe.id = session_.add_probe(item.probe);
    }
    item.problem.clear();
    item.stopped = false;
  }
}

bool ProbeController::update() {
  std::optional<BackFill::Result> result = back_fill_.update();
  if (journal_.runs() != runs_ || journal_.reloads() != reloads_) {
    runs_ = journal_.runs();
    reloads_ = journal_.reloads();
    result.reset();  // the result is for an earlier run, or for steps that a reload made invalid
    try_again();
  }
  if (items_.empty()) return false;
  // Before the first step of this run has ended, the session may still have the previous run's step numbers.
  if (journal_.step() > 0)
    for (const Probe& probe : session_.probes())
      if (probe.since > 0) journal_.probes().set_since(probe.id, probe.name, probe.since);
  const bool any = result.has_value();
  if (result) take(std::move(*result));
  const int64_t first = run_now_().first;
  for (Item& item : items_) {
    const ProbeCurves::Entry* const known = journal_.probes().find(item.probe.id);
    if (!known) continue;
    if (!known->problem.empty() && item.problem.empty()) item.problem = known->problem;
    if (!known->complete && known->since > 0 && known->since <= std::max(known->filled + 1, first))
      journal_.probes().set_complete(item.probe.id);
  }
  if (!back_fill_.progress()) start();
  return any;
}

void ProbeController::take(BackFill::Result result) {
  for (BackFill::Part& part : result.parts) {
    const size_t index = index_of(part.probe.name);
    if (index == items_.size() || items_[index].probe.id != part.probe.id) continue;  // removed meanwhile
    Item& item = items_[index];
    if (!item.problem.empty()) continue;  // the probe has failed in the run
    item.problem = result.problem.empty() ? part.problem : result.problem;
    item.stopped = !item.problem.empty();
    if (item.stopped) continue;
    journal_.probes().fill(part.probe.id, std::move(part.values), part.last, journal_.curves(),
                           journal_.smoothing());
  }
}

// The steps before the run's own first value. While there is no such value, the steps up to the last finished
// one.
ProbeController::Gap ProbeController::gap_of(const Item& item) const {
  const ReplayController::RunNow run = run_now_();
  const ProbeCurves::Entry* const known = journal_.probes().find(item.probe.id);
  Gap gap{run.first, run.steps};
  if (run.steps == 0 || (known && known->complete)) return {};
  if (known && known->since > 0)
    gap.last = std::min(gap.last, known->since - 1);
  else if (journal_.state() == SessionState::running)
    return {};  // the run's first value comes in a moment
  if (known) gap.first = std::max(gap.first, known->filled + 1);
  return gap;
}

void ProbeController::start() {
  const ReplayController::RunNow run = run_now_();
  BackFill::Job job{run.folder, run.steps, replay_.keyframe_source(), run.limits, {}};
  for (Item& item : items_) {
    if (item.stopped || !item.problem.empty()) continue;
    const Gap gap = gap_of(item);
    if (gap.empty()) continue;
    if (run.folder.empty()) {
      item.problem = "this run has no folder that tells how to repeat its earlier steps";
      item.stopped = true;
      continue;
    }
    const ProbeCurves::Entry* const known = journal_.probes().find(item.probe.id);
    Metric values(item.probe.name, journal_.smoothing());
    if (known && known->filled > 0) values = known->before;
    values.probe = true;
    job.parts.push_back({item.probe, gap.first, gap.last, std::move(values), {}});
  }
  if (!job.parts.empty()) back_fill_.start(std::move(job));
}

std::vector<std::pair<int64_t, int64_t>> ProbeController::covered(const Item& item) const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  const ProbeCurves::Entry* const known = journal_.probes().find(item.probe.id);
  if (!known) return ranges;
  const ReplayController::RunNow run = run_now_();
  if (known->filled >= run.first) ranges.emplace_back(run.first, known->filled);
  const int64_t since = std::max(known->since, run.first);
  if (known->since > 0 && since <= run.steps && known->problem.empty()) ranges.emplace_back(since, run.steps);
  return ranges;
}

std::string ProbeController::state_of(const Item& item) const {
  const ReplayController::RunNow run = run_now_();
  if (run.steps == 0) return "waits for the first step";
  const ProbeCurves::Entry* const known = journal_.probes().find(item.probe.id);
  const int64_t since = known ? known->since : 0, filled = known ? known->filled : 0;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (journal_.active())
    add(since == 0                                         ? "from the next step on"
        : since <= run.first || (known && known->complete) ? "live"
                                                           : "live since step " + std::to_string(since));
  else if (known && known->complete)
    return steps_text(run.first, run.steps);
  else if (since > 0 && since <= run.steps)
    add(steps_text(std::max(since, run.first), run.steps));
  if (filled >= run.first) add(steps_text(run.first, filled) + " repeated");
  if (const Gap gap = gap_of(item); !gap.empty())
    add((item.stopped ? "without " : "now repeats ") + steps_text(gap.first, gap.last));
  return text;
}

}  // namespace lunagrad
