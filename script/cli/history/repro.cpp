// `lunagrad repro RUN`: runs the script of a run's folder or bundle again, with the same arguments, seed,
// device, parameters and parameter changes, and reports the first number that differs.
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/temporary_folder.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/progress.h"
#include "script/cli/base/runner.h"
#include "script/cli/command/all.h"
#include "script/cli/trust/permission.h"
#include "script/run/bundle.h"
#include "script/run/record.h"
#include "script/time/timeline.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr int kExitMismatch = 7;

std::string shortest(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

using Numbers = decltype(RunRecord::metrics);

// The sentence about the earliest difference; "" when there is none.
std::string first_mismatch(const Numbers& was, const Numbers& is) {
  int64_t step = INT64_MAX;
  std::string sentence;
  for (const auto& [name, before] : was) {
    const auto found = is.find(name);
    const size_t count = found == is.end() ? 0 : found->second.size();
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

// The recorded run. Error if it cannot be run again.
RunRecord read_repeatable(const std::string& folder, const std::string& shown) {
  RunRecord was = read_run(folder);
  if (was.config_damaged) fail_as(ErrorKind::file, shown, ": config.json is damaged");
  if (const std::string damage = damage_of(was); !damage.empty())
    std::cerr << "lunagrad repro: " << damage << "\n";
  if (was.resumed)
    fail_as(ErrorKind::file, shown,
            ": was resumed from a checkpoint; only a run from its first step can be run again");
  if (!was.reloads.empty())
    fail_as(ErrorKind::file, shown, ": a changed script went on after step ", was.reloads.front(),
            "; only a run of one script can be run again");
  if (was.script.empty()) fail_as(ErrorKind::file, shown, ": config.json does not say what was run");
  return was;
}

// Runs `request.script` as in the recorded run, into the folder `again`, and compares the numbers as they
// come, since that folder may become full.
int repeat_run(const RunRecord& was, RunRequest request, const std::string& again) {
  request.options.arguments = was.arguments;
  request.options.set = was.set;
  uint64_t seed = 0;
  std::from_chars(was.seed.data(), was.seed.data() + was.seed.size(), seed);
  request.options.seed = seed;
  request.options.device = was.device;
  request.options.sandbox |= was.sandbox;
  if (was.threads > 0 && was.threads <= kMostThreads) request.threads = was.threads;
  // A stopped run is repeated up to its last recorded step.
  if (was.outcome == "ok" ? was.steps_total > 0 : was.steps > 0)
    request.options.steps = was.outcome == "ok" ? was.steps_total : was.steps;
  for (const ParamChange& change : was.changes)
    request.options.edits.push_back({change.step, change.name, change.value});
  request.options.run_directory = again;
  request.options.files_aside = true;
  request.announce_folder = false;
  Numbers numbers;
  bool only_incomplete = false;  // the run failed only because files of that folder could not be written
  request.also = [&](const Event& event) {
    if (event.kind == Event::Kind::ended)
      only_incomplete = !event.text.empty() && event.exit_code == int(Outcome::file);
    if (event.kind == Event::Kind::metrics)
      for (const auto& [name, value] : event.metrics)
        numbers[name].push_back({event.step, event.time, value});
  };
  const int code = run_and_wait(request);
  if (code != 0 && !only_incomplete && was.outcome == "ok") {
    std::cerr << "lunagrad repro: the script ended with exit code " << code << "; it had ended well\n";
    return code;
  }
  if (was.metrics.empty() && numbers.empty()) {
    std::cout << "nothing was logged, then and now\n";
    return 0;
  }
  const std::string mismatch = first_mismatch(was.metrics, numbers);
  if (!mismatch.empty()) {
    std::cout << "not reproduced: " << mismatch << "\n";
    return kExitMismatch;
  }
  size_t count = 0;
  for (const auto& [name, points] : was.metrics) count += points.size();
  std::cout << "reproduced: " << count << " numbers of " << was.steps << " steps are the same\n";
  return 0;
}

int reproduce_folder(const std::string& folder, const TrustFlags& flags) {
  refuse_special(folder);
  const RunRecord was = read_repeatable(folder, folder);
  const Permission allowed = permission_for("repro", folder, flags);
  RunRequest request = flags.limits;
  request.script = was.script;
  if (allowed.confined) {
    const Timeline line = read_timeline(folder, true);
    request.script = line.script_to_run();
    request.options.sandbox = true;
    request.options.folder = folder;
    request.options.modules = line.spans.front().modules;
  }
  request.options.source = read_script_copy(was, "script.lua");
  const TemporaryFolder temporary;
  request.guard.temporary.push_back(temporary.path());
  return repeat_run(was, std::move(request), temporary.path() + "/run");
}

// The script finds its modules and data in the folder into which the bundle is unpacked.
int reproduce_bundle(const std::string& bundle, const TrustFlags& flags) {
  const TemporaryFolder temporary;
  const std::string run = temporary.path() + "/run";
  unpack_run(bundle, temporary.path());
  const RunRecord was = read_repeatable(run, bundle);
  const Permission allowed =
      permission_for("repro", code_of_run(bundle, run, origin_of_bundle(bundle, run)), flags);
  const UnpackedBundle unpacked = unpack_bundle(bundle, temporary.path(), allowed.confined, show_count);
  RunRequest request = flags.limits;
  request.script = unpacked.script;
  request.options.stand_ins = unpacked.stand_ins;
  request.options.sandbox |= allowed.confined;
  request.guard.temporary.push_back(temporary.path());
  const fs::path before = fs::current_path();
  fs::current_path(unpacked.work);
  const int code = repeat_run(was, std::move(request), temporary.path() + "/again");
  fs::current_path(before);
  return code;
}

}  // namespace

// Exit code 0 when every number is the same, 7 when one differs, the script's exit code when it fails.
Action add_repro(Program& program) {
  const auto run = std::make_shared<std::string>();
  const auto flags = std::make_shared<TrustFlags>();
  CLI::App& command = add_command(program, "repro", "repeat a run and compare every number");
  add_argument(command, "RUN", *run, "a run's folder, the beginning or end of its name, or a bundle");
  add_trust_flags(command, *flags);
  return [=] {
    return carry_out("repro", [&] {
      const std::string named = find_named(*run);
      return is_bundle(named) ? reproduce_bundle(named, *flags) : reproduce_folder(named, *flags);
    });
  };
}

}  // namespace lunagrad
