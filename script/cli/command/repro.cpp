// `lunagrad repro RUN`: runs the script of a run's folder again, with its arguments, seed, device, parameters
// and the changes that were made to them, and reports the first number that differs.
#include <stdlib.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "runtime/error.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/runner.h"
#include "script/cli/command/all.h"
#include "script/run/record.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr int kExitMismatch = 7;

// Removed with its content when it goes out of scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "lunagrad-repro-XXXXXX").string();
    if (!mkdtemp(name.data())) fail_as(ErrorKind::file, name, ": cannot be made");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  std::string run() const { return path_ + "/run"; }

 private:
  std::string path_;
};

std::string shortest(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The sentence about the earliest difference; "" when there is none.
std::string first_mismatch(const RunRecord& was, const RunRecord& is) {
  int64_t step = INT64_MAX;
  std::string sentence;
  for (const auto& [name, before] : was.metrics) {
    const auto found = is.metrics.find(name);
    const size_t count = found == is.metrics.end() ? 0 : found->second.size();
    for (size_t i = 0; i < before.size() && before[i].step < step; ++i) {
      const MetricPoint& a = before[i];
      if (i < count && found->second[i].step == a.step && same(found->second[i].value, a.value)) continue;
      step = a.step;
      const bool missing = i >= count || found->second[i].step != a.step;
      sentence = text("step ", a.step, ": ", name,
                      missing ? " is missing" : " is " + shortest(found->second[i].value), ", was ",
                      shortest(a.value));
      break;
    }
  }
  return sentence;
}

int reproduce(const std::string& folder) {
  const RunRecord was = read_run(folder);
  if (was.resumed)
    fail_as(ErrorKind::file, folder,
            ": was resumed from a checkpoint; only a run from its first step can be run again");
  if (!was.reloads.empty())
    fail_as(ErrorKind::file, folder, ": a changed script went on behind step ", was.reloads.front(),
            "; only a run of one script can be run again");
  if (was.script.empty()) fail_as(ErrorKind::file, folder, ": config.json does not say what was run");
  const std::string copy = folder + "/script.lua";
  std::ifstream in(copy, std::ios::binary);
  if (!in) fail_as(ErrorKind::file, copy, ": cannot be read");
  std::ostringstream source;
  source << in.rdbuf();

  const TemporaryFolder temporary;
  RunRequest request;
  request.script = was.script;
  request.options.source = source.str();
  request.options.arguments = was.arguments;
  request.options.set = was.set;
  uint64_t seed = 0;
  std::from_chars(was.seed.data(), was.seed.data() + was.seed.size(), seed);
  request.options.seed = seed;
  request.options.device = was.device;
  request.options.sandbox = was.sandbox;
  // A stopped run is repeated up to its last step.
  if (was.outcome == "ok" ? was.steps_total > 0 : was.steps > 0)
    request.options.steps = was.outcome == "ok" ? was.steps_total : was.steps;
  for (const ParamChange& change : was.changes)
    request.options.edits.push_back({change.step, change.name, change.value});
  request.options.run_directory = temporary.run();
  request.announce_folder = false;
  const int code = run_and_wait(request);
  if (code != 0 && was.outcome == "ok") {
    std::cerr << "lunagrad repro: the script ended with exit code " << code << "; it had ended well\n";
    return code;
  }
  if (!is_run(temporary.run())) {
    std::cout << "no step was made and nothing logged, then and now\n";
    return 0;
  }
  const RunRecord is = read_run(temporary.run());
  const std::string mismatch = first_mismatch(was, is);
  if (!mismatch.empty()) {
    std::cout << "not reproduced: " << mismatch << "\n";
    return kExitMismatch;
  }
  size_t numbers = 0;
  for (const auto& [name, points] : was.metrics) numbers += points.size();
  std::cout << "reproduced: " << numbers << " numbers of " << was.steps << " steps are the same\n";
  return 0;
}

}  // namespace

// Exit code 0 when every number is the same, 7 when one differs, the script's when it fails.
Action add_repro(Program& program) {
  const auto folder = std::make_shared<std::string>();
  CLI::App& command = add_command(program, "repro", "repeat a run and compare every number");
  add_argument(command, "RUN", *folder, "a run's folder");
  return [=] { return carry_out("repro", [&] { return reproduce(*folder); }); };
}

}  // namespace lunagrad
