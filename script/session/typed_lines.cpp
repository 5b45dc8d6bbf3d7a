#include "script/session/typed_lines.h"

#include <algorithm>
#include <utility>

#include "script/lua/script_line.h"
#include "script/lua/state.h"

namespace lunagrad {

void TypedLines::begin_step() {
  ops_ = 0;
  next_ops_ = lines_.empty() ? INT64_MAX : 0;
}

bool TypedLines::any_before_lines(int64_t step) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const TypedLine& line) {
    return line.step == step && line.place == SafePlace::line;
  });
}

void TypedLines::record(lua_State* L, Run& run, const std::string& code) const {
  if (!place_) return;
  const bool at_end = *place_ == SafePlace::step_end;
  const int line = *place_ == SafePlace::line ? int(script_line(L).line) : 0;
  run.log_console({at_end ? run.done() : run.step(), ops_, *place_, line, code});
}

// A line whose place does not occur again, as in a count hook, runs before the next op. Lines of steps that
// this run does not reach are left out.
void TypedLines::repeat(lua_State* L, const Run& run, SafePlace place,
                        const std::function<void(const std::string&)>& evaluate) {
  const bool ends = place == SafePlace::step_end;
  const int64_t step = ends ? run.done() : run.step();
  const auto is_due = [&](const TypedLine& line) {
    if (line.step != step) return line.step < step;
    if (line.place == SafePlace::step_end || ends) return ends;
    if (place == SafePlace::op && ops_ > line.ops) return true;
    return line.place == place && ops_ == line.ops &&
           (place != SafePlace::line || int(script_line(L).line) == line.line);
  };
  while (!lines_.empty() && is_due(lines_.front())) {
    const TypedLine line = std::move(lines_.front());
    lines_.pop_front();
    if (line.step == step) evaluate(line.code);
  }
  const bool waits = !lines_.empty() && lines_.front().step == step && !ends;
  next_ops_ = waits ? lines_.front().ops : INT64_MAX;
}

}  // namespace lunagrad
