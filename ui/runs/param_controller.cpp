#include "ui/runs/param_controller.h"

namespace lunagrad {

void ParamController::update(const std::vector<ParamInfo>& params) {
  for (const ParamInfo& param : params)
    if (const auto asked = asked_.find(param.name); asked != asked_.end() && asked->second == param.value)
      asked_.erase(asked);
}

bool ParamController::send(SessionControl& session, const std::string& name, const std::string& value) {
  std::string why;
  if (!session.set_param(name, value, &why)) {
    refusals_[name] = why;
    return false;
  }
  refusals_.erase(name);
  asked_[name] = chosen_[name] = value;
  return true;
}

bool ParamController::set(SessionControl& session, const ParamInfo& param, const std::string& given,
                          int64_t step, bool part_of_drag) {
  const std::string before = value(param);
  if (given == before && !drag_) return true;
  if (drag_ && drag_->name != param.name) end_drag(step);
  if (!send(session, param.name, given)) return false;
  if (!drag_) drag_ = Edit{param.name, before, given, step};
  drag_->after = given;
  if (!part_of_drag) end_drag(step);
  return true;
}

void ParamController::end_drag(int64_t step) {
  if (!drag_) return;
  drag_->step = step;
  if (drag_->after != drag_->before) edits_.push_back(*drag_);
  drag_.reset();
}

bool ParamController::undo(SessionControl& session, int64_t step) {
  end_drag(step);
  if (edits_.empty()) return false;
  const Edit last = edits_.back();
  edits_.pop_back();
  return send(session, last.name, last.before);
}

const std::string& ParamController::value(const ParamInfo& param) const {
  const auto asked = asked_.find(param.name);
  return asked == asked_.end() ? param.value : asked->second;
}

const std::string& ParamController::refusal(const std::string& name) const {
  static const std::string none;
  const auto found = refusals_.find(name);
  return found == refusals_.end() ? none : found->second;
}

}  // namespace lunagrad
