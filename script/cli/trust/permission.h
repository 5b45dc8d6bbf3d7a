#pragma once
// Asks before the code of a run, bundle or sweep runs that this user has not made: on a terminal by a
// question, otherwise --trust or --sandbox has to say it. For the main thread.
#include <string>

#include "script/cli/base/flags.h"
#include "script/cli/base/runner.h"
#include "script/time/replay.h"
#include "script/trust/marks.h"

namespace lunagrad {

struct TrustFlags {
  bool trust = false;
  RunRequest limits;  // of which --sandbox, --memory and --timeout are used
};
// --trust, and --sandbox, --memory and --timeout as `run` has them.
void add_trust_flags(CLI::App& command, TrustFlags&);
// --trust alone. `about`: what it allows.
void add_trust_flag(CLI::App& command, TrustFlags&, const char* about);

// What somebody else has made and this command would run.
struct ForeignCode {
  std::string name;    // as the user has named it
  RunOrigin origin;    // why it is foreign
  std::string script;  // the name of its script, as it says itself
  std::string source;  // the script's text
};

// How it may run.
struct Permission {
  bool confined = false;  // in the sandbox, and what it names lies inside of it
  // The same for a replay, with the limits of the flags.
  ReplayOptions options(const TrustFlags&) const;
};

// For a run's folder; for a bundle whose run is unpacked into `folder`, with its RunOrigin. UsageError when
// it may not run. Error of kind file when it is damaged.
Permission permission_for(const char* command, const std::string& folder, const TrustFlags&);
Permission permission_for(const char* command, const ForeignCode&, const TrustFlags&);
// The text of a file of a folder for the question; "" when there is none.
std::string text_of(const std::string& folder, const std::string& file);
// Of the run in `folder`, named so by the user.
ForeignCode code_of_run(const std::string& name, const std::string& folder, RunOrigin);

}  // namespace lunagrad
