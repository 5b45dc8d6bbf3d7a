#pragma once
// Asks before running the code of a run, bundle or sweep that another user made: on a terminal by a question,
// otherwise --trust or --sandbox must be given. For the main thread.
#include <string>

#include "script/cli/base/flags.h"
#include "script/cli/base/runner.h"
#include "script/time/replay.h"
#include "script/trust/marks.h"

namespace lunagrad {

struct TrustFlags {
  bool trust = false;
  RunRequest limits;  // only --sandbox, --memory and --timeout are used
};
// --trust, and --sandbox, --memory and --timeout as for `run`.
void add_trust_flags(CLI::App& command, TrustFlags&);
// Only --trust. `about`: what it allows.
void add_trust_flag(CLI::App& command, TrustFlags&, const char* about);

// Code that another user made and this command would run.
struct ForeignCode {
  std::string name;    // as the user gave it
  RunOrigin origin;    // why it is foreign
  std::string script;  // the name of its script, as the code's maker recorded it
  std::string source;  // the script's text
};

// How the code may run.
struct Permission {
  bool confined = false;  // in the sandbox, and the files that it names must lie inside its folder
  // The same as options for a replay, with the limits of the flags.
  ReplayOptions options(const TrustFlags&) const;
};

// For a run's folder; or for a bundle whose run is unpacked into `folder`, with its RunOrigin. UsageError
// when the code may not run. Error of kind file when it is damaged.
Permission permission_for(const char* command, const std::string& folder, const TrustFlags&);
Permission permission_for(const char* command, const ForeignCode&, const TrustFlags&);
// The text of a folder's file, to show with the question; "" when there is none.
std::string text_of(const std::string& folder, const std::string& file);
// The code of the run in `folder`; `name`: what the user calls it.
ForeignCode code_of_run(const std::string& name, const std::string& folder, RunOrigin);

}  // namespace lunagrad
