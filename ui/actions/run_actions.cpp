#include "ui/actions/run_actions.h"

#include <charconv>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "script/run/bundle.h"
#include "script/run/record.h"
#include "script/run/sweep.h"
#include "ui/runs/list.h"

namespace lunagrad {
namespace {

constexpr double kCheckpointEvery = 20;  // seconds

// A parameter's value as an action records it: a number if it reads back as the same text, else the text.
DriveScript::Value as_value(const ParamInfo& param, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (param.number && end != text.c_str() && !*end && general_number(number) == text) return number;
  return text;
}

}  // namespace

RunActions::RunActions(Uses uses, std::string script, RunOptions options, std::function<void()> cleared,
                       const std::function<void()>& wake)
    : session_(uses.session),
      journal_(uses.journal),
      texts_(uses.texts),
      shown_(uses.shown),
      curves_(uses.curves),
      shell_(uses.shell),
      script_(std::move(script)),
      options_(std::move(options)),
      cleared_(std::move(cleared)),
      trust_(shell_.actions(), wake),
      forks_(wake) {
  options_.interactive = true;  // the user can resume: lg.run.breakpoint() pauses
  if (options_.checkpoint_every == 0) options_.checkpoint_every = kCheckpointEvery;
  options_of_run_ = options_;
  add_actions();
  add_param_actions();
  add_fork_actions();
}

void RunActions::add_actions() {
  Actions& actions = shell_.actions();
  actions.add({"open", "path", [this](const ActionArguments& given) { take_script(given.text(0, "path")); }});
  actions.add(
      {"open_run", "folder", [this](const ActionArguments& given) { take_run(given.text(0, "folder")); }});
  actions.add({"eval", "code", [this](const ActionArguments& given) {
                 shell_.write(ConsoleLine::Kind::command, given.text(0, "code") + "\n");
                 session_.eval(given.text(0, "code"));
               }});
  actions.add({"dismiss_failure", "", [this](const ActionArguments&) { journal_.dismiss_failure(); }});
  actions.add({"set_device", "name",
               [this](const ActionArguments& given) { options_.device = given.text(0, "name"); }});
  actions.add({"set_arguments", "{...}",
               [this](const ActionArguments& given) { options_.arguments = given.list(0, "arguments"); }});
  actions.add(
      {"set_new_seed", "on", [this](const ActionArguments& given) { new_seed_ = given.flag(0, "on"); }});
  actions.add({"set_seed", "seed", [this](const ActionArguments& given) {
                 const std::string text = given.any_as_text(0, "seed");
                 uint64_t seed = 0;
                 const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seed);
                 if (problem != std::errc() || end != text.data() + text.size())
                   given.refuse("seed must be a whole number from 0 to 2^64 - 1, got " + text);
                 new_seed_ = false;
                 options_.seed = seed;
               }});
}

void RunActions::add_param_actions() {
  const auto find = [this](const ActionArguments& given) -> std::optional<ParamInfo> {
    for (const ParamInfo& param : session_.params())
      if (param.name == given.text(0, "name")) return param;
    return {};
  };
  const auto lacks = [this, find](const ActionArguments& given) -> std::string {
    if (find(given)) return "";
    std::string known;
    for (const ParamInfo& param : session_.params()) known += (known.empty() ? "" : ", ") + param.name;
    return "there is no parameter \"" + given.text(0, "name") + "\"; " +
           (known.empty() ? std::string("there are none") : "there are " + known);
  };
  Actions& actions = shell_.actions();
  actions.add({"set_param", "name, value",
               [this, find, lacks](const ActionArguments& given) {
                 const std::optional<ParamInfo> param = find(given);
                 const std::string value = given.any_as_text(1, "value");
                 if (!param) given.refuse(lacks(given));
                 if (!params_.set(session_, *param, value, journal_.step(), dragging_))
                   given.refuse(param->name + " = " + value + ": " + params_.refusal(param->name));
               },
               lacks});
  actions.add(
      {"undo_param", "", [this](const ActionArguments&) { params_.undo(session_, journal_.step()); }});
  actions.add({"rerun_with", "{NAME = value}", [this](const ActionArguments& given) {
                 for (const auto& [name, value] : given.fields(0, "parameters"))
                   options_.set[name] = field_as_text(value);
                 restart();
               }});
}

void RunActions::add_fork_actions() {
  Actions& actions = shell_.actions();
  actions.add({"fork", "folder, step, {NAME = value}, edited",
               [this](const ActionArguments& given) {
                 const std::string& folder = given.text(0, "folder");
                 const bool own = folder.empty() || full_path(folder) == full_path(journal_.run_folder());
                 if (own && journal_.run_folder().empty())
                   given.refuse("there is no run with a folder to go on from");
                 ForkController::Wanted wanted;
                 wanted.folder = own ? journal_.run_folder() : folder;
                 if (own) wanted.steps = shown_.run_now().steps;
                 if (own) wanted.limits = shown_.run_now().limits;
                 if (own) wanted.keyframes = shown_.replay().keyframe_source();
                 wanted.changes.step = given.whole(1, "step", 1);
                 if (given.has(2))
                   for (const auto& [name, value] : given.fields(2, "parameters"))
                     wanted.changes.set[name] = field_as_text(value);
                 wanted.changes.other_script = given.has(3) && given.flag(3, "edited");
                 if (own) return forks_.make(std::move(wanted));
                 wanted.limits = limits_of(options_);
                 trust_.ask(
                     full_path(folder), options_.sandbox,
                     [this, wanted = std::move(wanted)](const CodeLimits& limits) mutable {
                       wanted.limits.confined = limits.confined;
                       wanted.limits.stand_ins = limits.stand_ins;
                       wanted.opens = limits.script;
                       forks_.make(std::move(wanted));
                     },
                     [this](const std::string& problem) { complain(problem); });
               },
               [this](const ActionArguments& given) -> std::string {
                 const int64_t step = given.whole(1, "step", 1);
                 if (!given.text(0, "folder").empty() || step <= journal_.step()) return "";
                 return "the run has no step " + std::to_string(step) + " so far";
               }});
  actions.add({"cancel_fork", "", [this](const ActionArguments&) { forks_.cancel(); }});
}

void RunActions::fork(const std::string& folder, int64_t step,
                      const std::map<std::string, std::string>& values, bool edited) {
  shell_.actions().act("fork", {folder, double(step), ActionFields(values.begin(), values.end()), edited});
}

void RunActions::begin_fork(ForkController::Made made) {
  const Actions::Quiet quiet(shell_.actions());
  if (made.opens != script_) take_script(made.opens);
  curves_.show(full_path(made.options.parent), true);  // beside the fork's curves
  shell_.write(ConsoleLine::Kind::note, "continues after step " + std::to_string(made.options.parent_step) +
                                            " of " + made.options.parent + "\n");
  made.options.interactive = true;
  made.options.checkpoint_every = options_.checkpoint_every;
  once_ = Once{std::move(made.options), std::move(made.script)};
  begin(false);
}

void RunActions::update() {
  trust_.update();
  watch_time();
  if (std::optional<ForkController::Made> made = forks_.update()) begin_fork(std::move(*made));
  if (nan_breakpoint_ &&
      (journal_.last_hit() == nan_breakpoint_ || (journal_.ended() && !journal_.active()))) {
    if (journal_.last_hit() != nan_breakpoint_ && journal_.outcome() != Outcome::stopped)
      shell_.notice("The run was repeated, but no NaN or Inf came up: it depends on more than the seed.");
    session_.remove_breakpoint(nan_breakpoint_);
    nan_breakpoint_ = 0;
  }
  if (!follows_line_from_ || journal_.pauses() <= *follows_line_from_) return;
  follows_line_from_.reset();
  if (const PausePtr& pause = journal_.pause()) texts_.go_to(SourcePlace(pause->place));
}

void RunActions::watch_time() {
  const RunTimer::Due due = timer_.update(journal_, options_of_run_.timeout, options_of_run_.sandbox);
  if (due == RunTimer::Due::nothing) return;
  if (due == RunTimer::Due::stop)
    session_.stop();
  else
    session_.interrupt();
  if (timer_.tell())
    shell_.notice("Time limit reached: the run was stopped after " + general_number(options_of_run_.timeout) +
                  " s.");
}

void RunActions::open(const std::string& path) { shell_.actions().act("open", {path}); }

void RunActions::take_script(const std::string& path) {
  const bool untitled = texts_.documents().with_title(path) != nullptr;
  opening_ = false;
  if (!untitled) texts_.show(path);
  if (path != script_) {
    script_ = path;
    texts_.forget_sources();
    options_.set.clear();  // the new script need not have these parameters
    params_ = ParamController();
    shell_.write(ConsoleLine::Kind::note, "open " + path + "\n");
  }
  if (!untitled) shell_.settings().remember(path);
}

void RunActions::open_run(const std::string& folder) { shell_.actions().act("open_run", {folder}); }

void RunActions::take_run(const std::string& folder) {
  const std::string path = full_path(folder);
  if (is_sweep(path)) {
    curves_.open_sweep(path);
    shell_.show_panel("Runs");  // the Curves panel is empty until the user chooses a trial in Runs
  } else if (!is_bundle(path)) {
    curves_.show(path, true);
  }
  opening_ = true;
  begins_.reset();
  trust_.open(path, [this, path, number = ++openings_](const TrustController::Opened& opened,
                                                       const std::string& problem) {
    const bool awaited = opening_ && number == openings_;
    if (is_bundle(path) && problem.empty()) curves_.show(opened.folder, true);
    if (awaited) opening_ = false;
    if (!problem.empty()) return complain(problem);
    if (!awaited) return;  // another script was opened meanwhile
    if (!script_.empty() && opened.script != script_) options_.set.clear();
    script_ = opened.script;
    shell_.write(ConsoleLine::Kind::note, "opened " + path + "; Run starts its script from the beginning\n");
    if (const std::optional<bool> paused = std::exchange(begins_, std::nullopt)) begin(*paused);
  });
}

void RunActions::complain(const std::string& problem) {
  shell_.write(ConsoleLine::Kind::error, problem + "\n");
}

void RunActions::run() {
  shown_.follow_run();
  single_step_ = false;
  // resume() also cancels a pause that is still to come, for example after a single step or a reload.
  if (journal_.active())
    session_.resume();
  else
    restart();
}

void RunActions::restart(bool paused) {
  once_.reset();
  begin(paused);
}

void RunActions::begin(bool paused) {
  if (opening_ && !once_) {
    begins_ = paused;
    return;
  }
  if (script_.empty()) {
    shell_.write(ConsoleLine::Kind::note,
                 "There is no script: open one (Ctrl+P), take one of the examples, or start the "
                 "workbench with one, as in lunagrad-workbench train.lua\n");
    return;
  }
  limits_ = {};
  const std::string home = trust_.home_of(script_);
  if (home.empty()) return begin_trusted(paused);
  trust_.ask(
      home, options_.sandbox,
      [this, paused](const CodeLimits& limits) {
        limits_ = limits;
        begin_trusted(paused);
      },
      [this](const std::string& problem) {
        once_.reset();
        complain(problem);
      });
}

void RunActions::begin_trusted(bool paused) { await(paused ? Awaited::paused_run : Awaited::run); }

// Starts the run or the reload when modified texts are saved.
void RunActions::await(Awaited what) {
  awaited_ = what;
  const auto saved = [this] { begin_awaited(); };
  const auto failed = [this] {
    awaited_ = Awaited::nothing;
    once_.reset();
  };
  if (texts_.save_before_run(failed, saved)) saved();
}

void RunActions::begin_awaited() {
  if (awaited_ == Awaited::nothing) return;
  if (awaited_ != Awaited::reload) return begin_run();
  awaited_ = Awaited::nothing;
  shown_.follow_run();
  texts_.forget_sources();
  texts_.remember_run_lines();
  session_.reload();
}

void RunActions::run_to_not_finite() {
  const std::optional<NotFiniteNote>& note = journal_.not_finite();
  if (!note || nan_breakpoint_) return;
  // Repeats the run with its seed and with the edits that were made while it ran.
  once_ = Once{options_of_run_, {}, note->since};
  once_->options.run_directory.clear();
  once_->options.edits = journal_.edits();
  begin(false);
}

void RunActions::go_on_after_failure() {
  if (!journal_.active()) await(Awaited::reload);
}

void RunActions::restore_options(const RunOptions& options) {
  options_.arguments = options.arguments;
  options_.set = options.set;
  options_.seed = options.seed;
  options_.device = options.device;
  options_.steps = options.steps;
  options_.sandbox |= options.sandbox;
  if (options_.memory == 0) options_.memory = options.memory;
  if (options_.disk == 0) options_.disk = options.disk;
  if (options_.timeout == 0) options_.timeout = options.timeout;
}

void RunActions::resume(const std::string& folder, const RunOptions& options) {
  restore_options(options);
  const auto sandbox = std::make_shared<bool>(false);
  shell_.background_tasks().add(
      [folder, sandbox] { *sandbox = read_run_config(folder).sandbox; },
      [this, folder, sandbox](const std::string&) {  // the run reports an error of reading
        once_ = Once{options_};
        once_->options.resume = folder;
        once_->options.sandbox |= *sandbox;
        begin(false);
      });
}

// Applies the command line's limits, which hold for every run of this window.
void RunActions::limit(RunOptions& run) const {
  run.sandbox |= options_.sandbox;
  run.memory = options_.memory;
  run.disk = options_.disk;
  run.timeout = options_.timeout;
}

void RunActions::begin_run() {
  const bool paused = std::exchange(awaited_, Awaited::nothing) == Awaited::paused_run;
  const std::optional<Once> once = std::exchange(once_, std::nullopt);
  if (new_seed_ && !once) options_.seed = std::random_device()();
  for (const auto& [name, value] : params_.take_waiting()) options_.set[name] = value;
  journal_.restart();
  texts_.forget_sources();
  texts_.remember_run_lines();
  shown_.follow_run();
  cleared_();
  shell_.write(ConsoleLine::Kind::note,
               "run " + short_path(script_) + (paused ? ", to the end of its first step\n" : "\n"));
  options_of_run_ = once ? once->options : options_;
  limit(options_of_run_);
  limits_.apply_to(options_of_run_);
  options_of_run_.keyframe_sink = shown_.begin_run(options_of_run_);
  if (once && once->not_finite_from > 0) {
    Breakpoint breakpoint;
    breakpoint.condition = Breakpoint::Condition::not_finite;
    breakpoint.step = once->not_finite_from;
    nan_breakpoint_ = session_.add_breakpoint(breakpoint);
  }
  if (const Document* untitled = texts_.documents().with_title(script_))
    session_.run_text(untitled->buffer.content(), script_, options_of_run_);
  else
    session_.run_file(once && !once->script.empty() ? once->script : script_, options_of_run_);
  options_.run_directory.clear();  // this folder has a run now: the next run gets its own
  options_.resume.clear();
  if (paused) session_.step();  // to the end of step 1, where there are values to show
  // The user who starts an example wants to see it train.
  PanelLayout& layout = shell_.settings().layout;
  std::string& front = layout.front[size_t(layout.region_of("Curves"))];
  if (front == "Examples and help") front = "Curves";
}

void RunActions::rerun_with(const std::map<std::string, std::string>& values) {
  shell_.actions().act("rerun_with", {ActionFields(values.begin(), values.end())});
}

void RunActions::pause_or_resume() {
  shown_.follow_run();
  single_step_ = false;
  if (journal_.state() == SessionState::paused)
    session_.resume();
  else if (journal_.state() == SessionState::running)
    session_.pause();
}

void RunActions::step() {
  shown_.follow_run();
  if (journal_.state() == SessionState::paused) {
    single_step_ = true;
    session_.step();
  } else if (journal_.state() == SessionState::running) {
    session_.pause();
  } else if (!journal_.active()) {
    restart(true);
  }
}

void RunActions::step_op() {
  if (journal_.state() != SessionState::paused) return;
  single_step_ = true;
  session_.step_op();
}

void RunActions::step_line() {
  if (journal_.state() != SessionState::paused) return;
  single_step_ = true;
  follows_line_from_ = journal_.pauses();
  session_.step_line();
}

void RunActions::stop() {
  if (journal_.state() == SessionState::stopping)
    session_.interrupt();
  else if (journal_.active())
    session_.stop();
}

void RunActions::evaluate(const std::string& code) { shell_.actions().act("eval", {code}); }

void RunActions::set_seed(uint64_t seed) { shell_.actions().act("set_seed", {std::to_string(seed)}, true); }

void RunActions::set_param(const ParamInfo& param, const std::string& value, bool part_of_drag) {
  const bool goes_on = params_.drag() && params_.drag()->name == param.name;
  if (!part_of_drag || !goes_on) tell_drag_end();
  dragging_ = part_of_drag;
  try {
    shell_.actions().perform("set_param", {param.name, as_value(param, value)}, goes_on);
    if (part_of_drag && !goes_on) journal_.begin_drag(param.name);
  } catch (const Error&) {  // the panel shows the error
  }
  dragging_ = false;
}

void RunActions::end_param_drag() {
  tell_drag_end();
  params_.end_drag(journal_.step());
}

void RunActions::tell_drag_end() {
  if (const auto& drag = params_.drag()) journal_.end_drag(drag->name, drag->after);
}

}  // namespace lunagrad
