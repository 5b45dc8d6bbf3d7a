#include "script/time/taking.h"

#include "script/time/keyframe_folder.h"

namespace lunagrad {

void KeyframeTaker::begin_run(const RunOptions& options) {
  sinks_.clear();
  wanting_.clear();
  if (options.keyframe_sink) sinks_.push_back(options.keyframe_sink);
  begun_ = given_up_ = false;
}

// If the run continues after a step, its folder may hold keyframes of later steps, which are now void.
void KeyframeTaker::begin_steps(const Run& run) {
  if (const RunFolder* const folder = run.folder()) {
    const size_t budget = run.options().keyframes;
    auto writer = std::make_shared<KeyframeWriter>(folder->path(), budget, warn_);
    if (budget > 0)
      sinks_.push_back(std::move(writer));
    else
      writer->begin(run.done());
  }
  for (const auto& sink : sinks_) sink->begin(run.done());
}

bool KeyframeTaker::wants(const Run& run) {
  if (given_up_ || !run.in_steps()) return false;
  if (!std::exchange(begun_, true)) {
    begin_steps(run);
    return false;
  }
  wanting_.clear();
  for (const auto& sink : sinks_)
    if (sink->wants(run.done())) wanting_.push_back(sink);
  return !wanting_.empty();
}

void KeyframeTaker::end_step(lua_State* L, Run& run) {
  const uint64_t start = ticks();
  auto keyframe = std::make_shared<Keyframe>();
  try {
    keyframe->content = snapshot_of(states_(L));
  } catch (const Error& error) {
    given_up_ = true;
    warn_(text("no keyframes: ", error.what()));
    return;
  }
  if (std::holds_alternative<std::monostate>(keyframe->content.value)) {
    given_up_ = true;
    if (run.options().keyframes > 0)
      warn_("no keyframes: nothing is registered with lg.run.state; a replay of this run begins with step 1");
    return;
  }
  keyframe->step = run.done();
  keyframe->params = run.params().starts();
  keyframe->hashes = state_hashes(keyframe->content);
  const uint64_t cost = ticks() - start;
  for (const auto& sink : wanting_) sink->take(keyframe, cost);
}

}  // namespace lunagrad
