#pragma once
// What decided a run from outside, read from its folder: script, arguments, seed, device, parameters and
// their edits, reloads, resumes and console lines, with their steps. What a resume or a reload made void is
// left out. Plain values; any thread. Errors are of kind file.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "script/run/record.h"
#include "script/view/run.h"

namespace lunagrad {

// The script that ran from behind `step` on, until the next one took over.
struct Era {
  int64_t step = 0;
  std::string copy;        // of its text, in the folder: "script.lua", "script-00000100.lua"
  std::string checkpoint;  // that it was resumed from; "": it began anew, or took over from the era before
  Modules modules;         // that it required; their texts are copies in the folder
};

struct Timeline {
  RunRecord record;
  std::vector<Era> eras;  // by step, at least one
  std::vector<ParamEdit> edits;
  std::vector<TypedLine> console;
  int64_t steps = 0;  // how many the run has ended so far, as far as its folder tells
  bool confined = false;

  const Era& era_of(int64_t step) const;    // in which the step ran
  std::string script_of(const Era&) const;  // its text
  // The path by which the script runs. A confined run does not say where a run that goes on from it is at
  // home.
  std::string script_to_run() const { return confined ? record.folder + "/script.lua" : record.script; }
};

// Error when the folder is no run's, or the run cannot be replayed: it had several ranks, or config.json does
// not say what ran. `confined`: somebody else has made the folder; it runs in the sandbox, and what it names
// lies inside it, else Error.
Timeline read_timeline(const std::string& folder, bool confined = false);
// The options of a session that goes on as the run did after the start of `era`, or after a keyframe of it
// when there is one: without output, without a folder.
RunOptions options_behind(const Timeline&, const Era&, std::shared_ptr<const Keyframe> = nullptr);

}  // namespace lunagrad
