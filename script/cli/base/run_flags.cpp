#include "script/cli/base/run_flags.h"

namespace lunagrad {
namespace {

template <class E>
void add_word(CLI::App& command, const char* name, E& value,
              const std::vector<std::pair<std::string, E>>& choices, const char* about) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  const auto take = [choices, &value](size_t which) { value = choices[which].second; };
  add_choice(command, name, std::move(words), take, about);
}

}  // namespace

std::string RunFlags::take_settings() {
  for (const std::string& setting : set) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) return "--set " + setting + ": expected name=value";
    request.options.set[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return {};
}

void add_limits(CLI::App& command, RunRequest& request) {
  add_seconds(command, "--timeout", request.timeout, "seconds after which the program ends, exit code 124");
  add_flag(command, "--sandbox", request.options.sandbox, "the script is not trusted: lunagrad help sandbox");
  add_mebibytes(command, "--memory", request.options.memory,
                "MiB that the script and its tensors may take, exit code 8 beyond (with --sandbox 256)");
}

void add_run_flags(CLI::App& command, RunFlags& flags) {
  RunOptions& options = flags.request.options;
  add_option(command, "--seed", options.seed, "of the random numbers (default 0)");
  add_option(command, "--device", options.device, "where tensors are made: cpu, vulkan, vulkan:1, …");
  add_list(command, "--set", flags.set, "NAME=VALUE for a lg.run.param; may be repeated");
  add_option(command, "--steps", options.steps, "in place of the number in lg.run.steps");
  add_option(command, "--resume", options.resume, "a run's folder, or one of its checkpoints, to go on from");
  add_option(command, "--run-dir", options.run_directory,
             "folder of the run (default runs/<time>-<script>-<id>)");
  add_limits(command, flags.request);
  add_flag(command, "--json", flags.request.json,
           "one JSON object a line on stdout, everything else on stderr");
  add_word<ProgressStyle>(command, "--progress", flags.request.progress,
                          {{"auto", ProgressStyle::automatic},
                           {"bar", ProgressStyle::bar},
                           {"plain", ProgressStyle::plain},
                           {"none", ProgressStyle::none}},
                          "how far the run is (auto: a bar on a terminal, else lines)");
  add_word<GuardLevel>(command, "--guard", options.guard,
                       {{"off", GuardLevel::off}, {"step", GuardLevel::step}, {"op", GuardLevel::op}},
                       "where NaN and Inf end the run with exit code 4");
  add_flag(command, "--tensorboard", options.tensorboard,
           "also write an event file for TensorBoard into the run's folder");
  add_option(command, "--profile", flags.request.profile,
             "measure where time and memory go and write it as a trace for https://ui.perfetto.dev", "FILE");
  add_flag(command, "--kernels", flags.request.kernels,
           "at the end, which kernels a GPU ran and how often: of products, in which type they multiplied");
  add_flag(command, "--deterministic", options.deterministic,
           "the same numbers for the same seed, device and number of threads: every operation keeps to "
           "that, and the run records the promise");
  add_flag(command, "--strict-device", options.strict_device,
           "an operation that the device lacks is an error");
}

}  // namespace lunagrad
