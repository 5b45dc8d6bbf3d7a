#pragma once
// The outside inputs of a run, read from its folder: script, arguments, seed, device, parameters and their
// edits, reloads, resumes and console lines, with their steps. Entries that a resume or a reload made void
// are left out. Plain values; any thread. Errors are of kind file.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "script/run/record.h"
#include "script/view/run.h"

namespace lunagrad {

// The steps between two reloads of the script: from `step`, which is not part of it, to the next span.
struct ReloadSpan {
  int64_t step = 0;
  std::string copy;        // the copy of its text in the folder: "script.lua", "script-00000100.lua"
  std::string checkpoint;  // the checkpoint that it was resumed from; "": it began with line 1
  Modules modules;         // modules that it required; their texts are copies in the folder
};

struct Timeline {
  RunRecord record;
  std::vector<ReloadSpan> spans;  // ordered by step; at least one
  std::vector<ParamEdit> edits;
  std::vector<TypedLine> console;
  int64_t steps = 0;  // completed steps, as far as the folder shows
  bool confined = false;

  const ReloadSpan& span_of(int64_t step) const;   // the span in which the step ran
  std::string script_of(const ReloadSpan&) const;  // the span's text
  // The texts that the step ran: of the script, under script_to_run(), and of its modules.
  Modules texts_of(int64_t step) const;
  // The path under which the script runs. It is in the run's folder for a confined run, whose recorded path
  // must not decide where a run that continues from it belongs.
  std::string script_to_run() const { return confined ? record.folder + "/script.lua" : record.script; }
};

// Error when the folder is not a run's, or the run cannot be replayed: it had several ranks, or config.json
// does not say what ran. `confined`: another user made the folder; the script runs in the sandbox, and
// everything that the folder names must be inside it, otherwise Error.
Timeline read_timeline(const std::string& folder, bool confined = false);
// The options of a session that continues as the run did after the start of `span`, or after `keyframe` if
// given: without output, without a folder.
RunOptions options_behind(const Timeline&, const ReloadSpan&, std::shared_ptr<const Keyframe> = nullptr);

}  // namespace lunagrad
