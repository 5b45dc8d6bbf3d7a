#include "script/session/current_run.h"

namespace lunagrad {

std::shared_ptr<Run> CurrentRun::locked_run() const {
  const std::lock_guard lock(mutex_);
  return run_;
}

std::vector<ParamInfo> CurrentRun::params() const {
  const std::shared_ptr<Run> run = locked_run();
  return run ? run->params().list() : std::vector<ParamInfo>();
}

bool CurrentRun::set_param(const std::string& name, const std::string& value, std::string* why) const {
  const std::shared_ptr<Run> run = locked_run();
  if (!run && why) *why = "no script has run yet";
  return run && run->params().edit(name, value, why);
}

std::vector<std::string> CurrentRun::files() const {
  const std::lock_guard lock(mutex_);
  return files_;
}

void CurrentRun::begin(const Script& script, std::function<void(Event)> emit) {
  {
    const std::lock_guard lock(mutex_);
    run_.reset();  // no run remains if the next line throws
  }
  auto run = std::make_shared<Run>(script, std::move(emit));
  const std::lock_guard lock(mutex_);
  run_ = std::move(run);
  files_.clear();
  if (!script.path.empty()) files_.push_back(script.path);
}

void CurrentRun::add_file(const std::string& file) {
  const std::lock_guard lock(mutex_);
  files_.push_back(file);
}

}  // namespace lunagrad
