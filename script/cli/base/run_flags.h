#pragma once
// The flags of `lunagrad run`, which `lunagrad -e` also takes. For the main thread.
#include <string>
#include <vector>

#include "script/cli/base/flags.h"
#include "script/cli/base/runner.h"

namespace lunagrad {

struct RunFlags {
  RunRequest request;
  std::vector<std::string> set;

  // Splits each --set k=v into request.options.set. Returns an error message for a value without '=' or
  // without a name, otherwise "".
  std::string take_settings();
};
void add_run_flags(CLI::App& command, RunFlags&);
// --timeout, --sandbox, --memory, --disk.
void add_limits(CLI::App& command, RunRequest&);

}  // namespace lunagrad
