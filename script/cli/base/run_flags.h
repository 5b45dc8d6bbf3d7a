#pragma once
// The flags of `lunagrad run`, and those of them that `lunagrad -e` takes. For the main thread.
#include <string>
#include <vector>

#include "script/cli/base/flags.h"
#include "script/cli/base/runner.h"

namespace lunagrad {

struct RunFlags {
  RunRequest request;
  std::vector<std::string> set;

  // Splits --set k=v into request.options.set; a sentence when one has no '='.
  std::string take_settings();
};
void add_run_flags(CLI::App& command, RunFlags&);
// --timeout, --sandbox, --memory.
void add_limits(CLI::App& command, RunRequest&);

}  // namespace lunagrad
