#include "script/time/fork.h"

#include <filesystem>

#include "runtime/core/error.h"
#include "script/run/record.h"
#include "script/time/keyframe_folder.h"

namespace lunagrad {

// The keyframe without the parameters that the user sets: the script declares them with their new values.
static KeyframePtr without_params(const KeyframePtr& keyframe,
                                  const std::map<std::string, std::string>& set) {
  auto copy = std::make_shared<Keyframe>(*keyframe);
  std::erase_if(copy->params, [&](const ParamStart& param) { return set.contains(param.name); });
  return copy;
}

KeyframePtr states_for_fork(Replay& parent, int64_t step) {
  KeyframePtr states = parent.keyframe_at(step);
  parent.require_same();
  if (!states)
    fail(parent.run().script,
         ": registers nothing with lg.run.state, so there is nothing to go on with after step ", step,
         "; register the model, the optimizer and the loader, and run it again");
  return states;
}

RunOptions options_of_fork(const Timeline& parent, const KeyframePtr& states, const ForkChanges& changes) {
  RunOptions options = options_behind(parent, parent.span_of(changes.step + 1), states);
  options.edits.clear();
  options.console.clear();
  for (const auto& [name, value] : changes.set) options.set[name] = value;
  options.start = without_params(options.start, changes.set);
  if (changes.steps) options.steps = changes.steps;
  if (!changes.device.empty()) options.device = changes.device;
  if (options.steps && *options.steps <= changes.step)
    fail("--steps ", *options.steps, ": the fork goes on after step ", changes.step,
         ", and --steps counts from the first step of all");
  if (changes.other_script) {
    options.source.reset();
    options.modules.clear();
    options.folder.clear();
    options.start_changed = true;
  }
  options.parent = std::filesystem::absolute(parent.record.folder).lexically_normal().string();
  options.parent_step = changes.step;
  options.write_run = true;
  return options;
}

void begin_fork(const RunOptions& options) {
  if (is_run(options.run_directory))
    fail_as(ErrorKind::file, options.run_directory, ": holds a run already; --run-dir names another folder");
  write_keyframe(options.run_directory, *options.start);
}

}  // namespace lunagrad
