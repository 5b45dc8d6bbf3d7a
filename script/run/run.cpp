#include "script/run/run.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <lua.hpp>
#include <nlohmann/json.hpp>

#include "runtime/core/context.h"
#include "runtime/core/path_text.h"
#include "runtime/core/version.h"
#include "runtime/cpu/parallel.h"
#include "runtime/dist/world.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/checksum.h"
#include "runtime/io/disk_limit.h"
#include "runtime/io/sha256.h"
#include "runtime/ops.h"
#include "script/run/json.h"
#include "script/run/json_line.h"
#include "script/run/record.h"

namespace lunagrad {
namespace {

Json json_value(const ParamValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>) {
          return json_number(held);
        } else {
          return held;
        }
      },
      value);
}

constexpr size_t kEarlyOutput = 1 << 20;

// The run goes on after `step`: adds the list of later checkpoints, whose files stay but are no longer part
// of the run.
void add_abandoned(JsonLine& line, const std::string& folder, int64_t step) {
  const std::map<int64_t, std::string> all = checkpoints_in(folder);
  auto later = all.upper_bound(step);
  if (later == all.end()) return;
  line.key("abandons").open('[');
  for (; later != all.end(); ++later) line.value(later->first);
  line.close(']');
}

}  // namespace

const char* name_of(SafePlace place) {
  switch (place) {
    case SafePlace::op:
      return "op";
    case SafePlace::line:
      return "line";
    case SafePlace::step_end:
      return "step end";
    case SafePlace::midst:
      break;
  }
  return "midst";
}

double logged_number(const Tensor& value) {
  const double number = value.item();
  if (value.dtype() != DType::f32 || !std::isfinite(number)) return number;
  char digits[32];
  const char* end = std::to_chars(digits, digits + sizeof digits, float(number)).ptr;
  double result = number;
  std::from_chars(digits, end, result);
  return result;
}

Run::Run(const Script& script, std::function<void(Event)> emit)
    : options_(script.options),
      path_(script.path),
      name_(script.name),
      source_(script.source),
      emit_(std::move(emit)),
      params_(script.options.set),
      started_(utc_now()),
      assert_finite_(script.options.guard != GuardLevel::off) {}

Run::~Run() = default;

double Run::seconds() const {
  if (ended_) return *ended_;
  return earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Event Run::event(Event::Kind kind) const {
  Event event{};
  event.kind = kind;
  event.step = step_;
  event.total = total_.value_or(0);
  event.time = seconds();
  return event;
}

void Run::begin_steps(std::optional<int64_t> total, const SourcePlace& place) {
  if (has_steps_) {
    fail("run.steps: a run has one loop of steps; the first began at ", steps_place_.file, ":",
         steps_place_.line);
  }
  if (const std::string unknown = unknown_param(); !unknown.empty()) throw UsageError(unknown);
  if (options_.steps) total = options_.steps;
  has_steps_ = in_steps_ = true;
  steps_place_ = place;
  total_ = total;
  params_.go_on();
  if (random_) context().generator.restore(random_->first, random_->second);
  open_folder();
  if (total_ && done_ > 0 && done_ >= *total_) {
    Event event{};
    event.kind = Event::Kind::warning;
    event.text = text("the run is at step ", done_, " of ", *total_, " already: no step is left");
    emit_(std::move(event));
  }
}

void Run::end_step() {
  if (!in_steps_) return;
  done_ = step_;
  boundary();
}

int64_t Run::next_step() {
  if (in_steps_ && total_ && done_ >= *total_) in_steps_ = false;
  return in_steps_ ? ++step_ : 0;
}

bool Run::count_step() {
  if (has_steps_) return false;
  done_ = ++step_;
  boundary();
  return true;
}

std::string Run::find_checkpoint(const std::string& path) const {
  const std::string found = find_if_named(path);
  std::error_code ignored;
  return std::filesystem::is_directory(found, ignored) ? latest_checkpoint(found) : found;
}

std::vector<std::string> Run::checkpoints_before(const std::string& path) const {
  return lunagrad::checkpoints_before(path);
}

std::string Run::checkpoint_path() {
  open_folder();
  if (!folder_) fail("run.checkpoint: this run has no folder to write to");
  return folder_->checkpoint_path(done_);
}

void Run::checkpoint_written(const std::string& path, bool automatic) {
  if (folder_) {
    folder_->regain("the last checkpoint");
    flush();  // rows logged before the checkpoint come before its row
    folder_->append_metrics(
        JsonLine(done_, seconds()).field(automatic ? "automatic" : "checkpoint", path_text(path)).finish());
  }
  if (automatic) return;
  Event event = this->event(Event::Kind::checkpoint);
  event.step = done_;
  event.text = path;
  emit_(std::move(event));
}

void Run::resume_at(Checkpoint checkpoint) {
  go_on_at(checkpoint.step, checkpoint.seed, checkpoint.stream);
  earlier_ = checkpoint.seconds;
  start_ = std::chrono::steady_clock::now();
  params_.resume(checkpoint.params);
  // A resumed run continues in its own folder unless another folder is named. A sandboxed script cannot
  // choose a folder.
  const bool chosen = !options_.sandbox || checkpoint.path == find_checkpoint(options_.resume);
  if (chosen && options_.run_directory.empty())
    options_.run_directory = folder_of_checkpoint(checkpoint.path);
  resumed_ = std::move(checkpoint);
}

void Run::go_on_at(int64_t step, uint64_t seed, uint64_t stream) {
  step_ = done_ = step;
  random_ = {seed, stream};
}

void Run::take_over(Run& before, int64_t step) {
  before.flush();
  params_.take_over(before.params_);
  options_.run_directory = before.options_.run_directory;  // may come from a checkpoint
  started_ = before.started_;
  folder_ = std::move(before.folder_);
  diff_ = std::move(before.diff_);
  events_ = std::move(before.events_);
  reloads_ = std::move(before.reloads_);
  script_sums_ = std::move(before.script_sums_);
  step_ = done_ = step;
  resumed_ = before.resumed_;
  earlier_ = before.seconds();
  start_ = std::chrono::steady_clock::now();
  char name[40];
  std::snprintf(name, sizeof name, "script-%08" PRId64 ".lua", step);
  if (!reloads_.empty() && reloads_.back().step == step) reloads_.pop_back();
  reloads_.push_back({step, name});
  if (!folder_) return;
  if (events_) events_->go_on(step + 1);
  write_script(name);
  write_config(nullptr, 0);  // before the row, because it has the text's checksum
  // As after a resume, earlier lines with later steps are void.
  JsonLine line(step, seconds());
  line.field("reload", std::string_view(name));
  add_abandoned(line, folder_->path(), step);
  folder_->append_decision(line.finish());
}

void Run::tell_source(int64_t step) {
  begun_after_ = step;
  tell_text(path_.empty() ? name_.substr(1) : path_, source_);
}

void Run::tell_text(const std::string& file, const std::string& source) {
  if (!options_.interactive) return;
  Event event = this->event(Event::Kind::source);
  event.step = std::max(done_, begun_after_);
  event.text = source;
  event.place = {file, 1};
  emit_(std::move(event));
}

void Run::tell_reloaded(const std::string& what) {
  if (reloads_.empty()) return;  // the script began at a keyframe
  Event event = this->event(Event::Kind::reload);
  event.step = done_;
  event.text = what;
  emit_(std::move(event));
}

void Run::note_read(const std::string& path) {
  if (!options_.write_run) return;
  std::optional<std::string> line = used_files_.read(path);
  if (!line) return;
  if (folder_)
    folder_->append_file(*line);
  else
    early_files_.push_back(std::move(*line));
}

void Run::flush() {
  for (Pending& pending : std::exchange(pending_, {})) write_row(std::move(pending));
}

void Run::boundary() {
  flush();
  for (const ParamEdit& edit : options_.edits)
    if (edit.step == step_) params_.edit(edit.name, edit.value);
  for (const std::string& sentence : params_.unread(step_)) warn(sentence);
  for (const std::string& name : params_.apply_edits(step_)) {
    const Param& param = *params_.find(name);
    if (folder_) {
      JsonLine line(step_, seconds());
      line.key("param").open('{').key(name);
      std::visit([&](const auto& value) { line.value(value); }, param.value);
      folder_->append_decision(line.close('}').finish());
    }
    tell(param);
  }
  Event event = this->event(Event::Kind::step);
  event.step = done_;
  emit_(std::move(event));
}

const Param& Run::declare(ParamInfo info, ParamValue fallback) {
  const size_t before = params_.all().size();
  const Param& param = params_.declare(std::move(info), std::move(fallback));
  for (const std::string& sentence : params_.take_misfits()) warn(sentence);
  if (params_.all().size() != before) tell(param);
  return param;
}

void Run::tell(const Param& param) {
  Event event = this->event(Event::Kind::param);
  event.text = param.info.value;
  event.place = param.info.place;
  event.metrics.emplace_back(param.info.name, param.info.number.value_or(std::nan("")));
  emit_(std::move(event));
  if (folder_) write_config(nullptr, 0);
}

void Run::log(Row row, const SourcePlace& place) {
  open_folder();
  bool here = pending_.empty();  // rows keep their order: wait behind earlier pending rows
  for (auto& [name, value] : row) {
    Tensor* const tensor = std::get_if<Tensor>(&value);
    if (!tensor) continue;
    if (tensor->device().is_cpu()) {
      // Read the value now: the script may write to the tensor before the next boundary.
      value = logged_number(*tensor);
    } else {
      const NoGrad guard;
      *tensor = clone(*tensor);
      here = false;
    }
  }
  Pending pending{step_, seconds(), std::move(row), place};
  if (here) {
    write_row(std::move(pending));
  } else {
    pending_.push_back(std::move(pending));
  }
}

void Run::write_row(Pending pending) {
  Event event = this->event(Event::Kind::metrics);
  event.step = pending.step;
  event.time = pending.time;
  event.place = std::move(pending.place);
  event.metrics.reserve(pending.row.size());
  JsonLine line(pending.step, pending.time);
  line.key("metrics").open('{');
  std::string broken;
  for (auto& [name, value] : pending.row) {
    const Tensor* const tensor = std::get_if<Tensor>(&value);
    const double number = tensor ? logged_number(*tensor) : std::get<double>(value);
    line.field(name, number);
    if (broken.empty() && !std::isfinite(number)) {
      broken =
          text("run.log: ", name, " is ", json_number(number).get<std::string>(), " at step ", pending.step);
    }
    event.metrics.emplace_back(std::move(name), number);
  }
  if (folder_) folder_->append_metrics(line.close('}').finish());
  if (events_) {
    for (const auto& [name, number] : event.metrics)
      events_->scalar(name, number, pending.step, date(pending.time));
  }
  emit_(std::move(event));
  if (assert_finite_ && !broken.empty()) fail_as(ErrorKind::numeric, broken);
}

double Run::date(double time) const {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count() - (seconds() - time);
}

void Run::open_folder() {
  if (folder_ || folder_failed_ || !options_.write_run || dist::rank() > 0) return;  // rank 0 writes
  const auto warn = [emit = emit_](const std::string& message) {  // the next run may take over the folder
    Event event{};
    event.kind = Event::Kind::warning;
    event.text = message;
    emit(std::move(event));
  };
  folder_failed_ = true;  // do not repeat the error at each step
  folder_ = std::make_unique<RunFolder>(
      options_.run_directory.empty() ? default_run_directory(path_) : options_.run_directory,
      resumed_ && options_.run_directory == folder_of_checkpoint(resumed_->path), warn);
  folder_failed_ = false;
  RunFolder* const folder = folder_.get();
  // Earlier lines with later steps belong to a continuation that was abandoned.
  if (resumed_) {
    JsonLine line(done_, seconds());
    line.field("resume", path_text(resumed_->path));
    add_abandoned(line, folder_->path(), done_);
    folder_->append_decision(line.finish());
  }
  if (options_.tensorboard) {
    events_ = std::make_unique<EventFile>(
        folder_->path(), [folder](const std::string& why) { folder->lose("the event file", why); });
    if (resumed_) events_->go_on(done_ + 1);
  }
  write_script("script.lua");
  // The settings of an untrusted repository can make git run programs.
  if (!options_.sandbox)
    diff_ = std::make_unique<GitDiff>(path_.empty() ? "./script" : path_, folder_->path() + "/git.diff");
  for (const auto& [file, source] : std::exchange(early_modules_, {})) write_module(file, source);
  folder_->append_log(std::exchange(early_output_, {}));
  for (const std::string& line : std::exchange(early_files_, {})) folder_->append_file(line);
  write_config(nullptr, 0);
  Event event = this->event(Event::Kind::run_folder);
  event.text = folder_->path();
  emit_(std::move(event));
}

void Run::warn(const std::string& message) {
  Event event = this->event(Event::Kind::warning);
  event.text = message;
  emit_(std::move(event));
}

void Run::write_config(const char* outcome, int exit_code) {
  Json config;
  config["script"] = path_text(path_.empty() ? name_.substr(1) : path_);
  config["arguments"] = path_texts(options_.arguments);
  config["command_line"] = path_text(options_.command_line);
  config["started"] = started_;
  config["versions"] = {{"lunagrad", LUNAGRAD_VERSION}, {"lua", LUA_RELEASE}};
  if (!options_.sandbox) config["git_commit"] = git_commit(path_.empty() ? "./script" : path_);
  if (options_.sandbox) config["sandbox"] = true;
  if (!options_.unguarded.empty()) config["unguarded"] = options_.unguarded;
  if (options_.deterministic) config["deterministic"] = true;
  if (options_.eager) config["eager"] = true;
  config["seed"] = options_.seed.value_or(0);
  config["device"] = std::string(context().device->name());
  config["devices"] = Json::object();
  config["devices"][std::string(cpu_device().name())] = cpu_device().description();
  config["devices"][std::string(context().device->name())] = context().device->description();
  config["threads"] = thread_count();
  if (total_) config["steps"] = *total_;
  if (options_.steps) config["steps_option"] = *options_.steps;
  if (dist::size() > 1) config["ranks"] = dist::size();
  if (!options_.parent.empty())
    config["parent"] = {{"run", path_text(options_.parent)},
                        {"step", options_.parent_step},
                        {"changed", options_.start_changed}};
  if (resumed_) config["resumed"] = {{"checkpoint", path_text(resumed_->path)}, {"step", resumed_->step}};
  for (const Reload& reload : reloads_)
    config["reloads"].push_back({{"step", reload.step}, {"script", reload.script}});
  config["scripts"] = Json::object();
  for (const auto& [name, sum] : script_sums_) config["scripts"][name] = sum;
  config["set"] = Json::object();
  for (const auto& [name, value] : options_.set) config["set"][name] = path_text(value);
  config["params"] = Json::object();
  for (const Param& param : params_.all()) config["params"][param.info.name] = json_value(param.value);
  if (outcome) {
    config["outcome"] = outcome;
    config["exit_code"] = exit_code;
    config["last_step"] = step_;
    config["seconds"] = seconds();
  }
  folder_->write_config(std::move(config), outcome != nullptr);
}

void Run::remember_module(const std::string& file) {
  const bool copied = options_.write_run && dist::rank() == 0;
  if (!copied && !options_.interactive) return;
  std::string source;
  const auto given = options_.modules.find(file);
  try {
    source = given == options_.modules.end() ? read_file(file) : given->second;
  } catch (const Error&) {
    return;  // `require` reports the error
  }
  tell_text(file, source);
  if (!copied) return;
  if (folder_)
    write_module(file, source);
  else
    early_modules_[file] = std::move(source);
}

void Run::write_script(const char* name) {
  folder_->write_script(name, source_);
  script_sums_[name] = checksum_text(hash_of(source_.data(), source_.size()));
}

void Run::write_module(const std::string& file, const std::string& source) {
  const std::string copy = folder_->write_module(file, source);
  JsonLine line(done_, seconds());
  line.key("module").open('{').field("file", std::string_view(path_text(file)));
  line.field("copy", std::string_view(path_text(copy)));
  folder_->append_decision(line.field("sha256", std::string_view(sha256_of(source))).close('}').finish());
  if (const auto used = used_files_.read(file, copy)) folder_->append_file(*used);
}

void Run::log_console(const TypedLine& console) {
  if (!folder_) return;
  JsonLine line(console.step, seconds());
  line.key("console").open('{').field("code", std::string_view(console.code));
  line.field("place", std::string_view(name_of(console.place))).field("ops", console.ops);
  line.field("line", int64_t(console.line)).close('}');
  folder_->append_decision(line.finish());
}

void Run::remember_output(const std::string& output) {
  if (folder_) {
    folder_->append_log(output);
  } else if (options_.write_run && early_output_.size() + output.size() <= kEarlyOutput) {
    early_output_ += output;
  }
}

std::string Run::finish(Outcome outcome, int exit_code) {
  ended_ = seconds();
  in_steps_ = false;
  if (diff_ && !diff_->wait())
    folder_->lose("git.diff", folder_->path() + "/git.diff: git could not write it");
  diff_.reset();
  if (!folder_) return {};
  const NoDiskLimit how_it_ended;
  write_end(outcome, exit_code);
  if (folder_->lost().empty()) return {};
  if (exit_code == 0) write_end(Outcome::file, int(Outcome::file));
  std::string names;
  for (const std::string& name : folder_->lost()) names += (names.empty() ? "" : ", ") + name;
  return text("run folder ", folder_->path(), ": incomplete: not written as a whole: ", names);
}

void Run::lose_checkpoint() {
  if (folder_) folder_->lose("the last checkpoint", "");
}

void Run::write_end(Outcome outcome, int exit_code) {
  const char* name = "error";
  switch (outcome) {
    case Outcome::ok:
      name = "ok";
      break;
    case Outcome::error:
      name = "error";
      break;
    case Outcome::usage:
      name = "usage";
      break;
    case Outcome::numeric:
      name = "numeric";
      break;
    case Outcome::device:
      name = "device";
      break;
    case Outcome::file:
      name = "file";
      break;
    case Outcome::memory:
      name = "memory";
      break;
    case Outcome::stopped:
      name = "stopped";
      break;
  }
  write_config(name, exit_code);
}

}  // namespace lunagrad
