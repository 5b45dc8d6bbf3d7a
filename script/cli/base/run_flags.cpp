#include "script/cli/base/run_flags.h"

#include "runtime/core/error.h"

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
  if (const std::optional<int64_t>& threads = request.threads;
      threads && (*threads < 1 || *threads > kMostThreads))
    return text("--threads ", *threads, ": 1 to ", kMostThreads, " expected");
  return {};
}

void add_limits(CLI::App& command, RunRequest& request) {
  add_seconds(command, "--timeout", request.options.timeout,
              "end the program after so many seconds, with exit code 124");
  add_flag(command, "--sandbox", request.options.sandbox,
           "run an untrusted script with limits: lunagrad help sandbox");
  add_mebibytes(
      command, "--memory", request.options.memory,
      "MiB limit for the script and its tensors, exit code 8 beyond it (default with --sandbox: 256)");
  add_mebibytes(
      command, "--disk", request.options.disk,
      "MiB limit for the files that the run writes, exit code 6 beyond it (default with --sandbox: 1024)");
}

void add_run_flags(CLI::App& command, RunFlags& flags) {
  RunOptions& options = flags.request.options;
  add_option(command, "--seed", options.seed, "seed of the random numbers (default 0)");
  add_option(command, "--threads", flags.request.threads,
             "threads of the CPU (default: OMP_NUM_THREADS, else all cores)");
  add_option(command, "--device", options.device, "default device of tensors: cpu, vulkan, vulkan:1, …");
  add_list(command, "--set", flags.set, "NAME=VALUE: set a parameter of lg.run.param; may be repeated");
  add_option(command, "--steps", options.steps, "replaces the number of steps in lg.run.steps");
  add_option(command, "--resume", options.resume,
             "resume from a run's folder, its name in runs/ or a part of that, or one of its checkpoints");
  add_option(command, "--run-dir", options.run_directory,
             "folder for the run's files (default runs/<time>-<script>-<id>)");
  add_option(
      command, "--stop-at", flags.request.stop_at,
      "stop at the end of this step as Ctrl-C does: with a checkpoint, exit code 130; not after the last");
  add_seconds(command, "--checkpoint-every", options.checkpoint_every,
              "seconds between automatic checkpoints, each of which replaces the one before (default: none)");
  add_size(command, "--keyframes", options.keyframes,
           "keep the states of some steps in the run's folder, within so many MiB or GiB (512MiB): probe and "
           "fork then start near any step");
  add_limits(command, flags.request);
  add_flag(command, "--json", flags.request.json,
           "one JSON object per line on stdout, everything else on stderr");
  add_word<ProgressStyle>(command, "--progress", flags.request.progress,
                          {{"auto", ProgressStyle::automatic},
                           {"bar", ProgressStyle::bar},
                           {"plain", ProgressStyle::plain},
                           {"none", ProgressStyle::none}},
                          "how to show progress (auto: a bar on a terminal, else lines)");
  add_word<GuardLevel>(command, "--guard", options.guard,
                       {{"off", GuardLevel::off}, {"step", GuardLevel::step}, {"op", GuardLevel::op}},
                       "end the run with exit code 4 at NaN or Inf: checked at each step, or after each op");
  add_flag(command, "--tensorboard", options.tensorboard,
           "also write an event file for TensorBoard into the run's folder");
  add_option(command, "--profile", flags.request.profile,
             "measure time and memory, and write a trace for https://ui.perfetto.dev", "FILE");
  add_size_flag(
      command, "--leaks", options.leaks, kLeakThreshold,
      "at the end, list who keeps graphs alive that outlive their step, and growing numbers of tensors, "
      "from 1 MiB in all (--leaks=SIZE); exit code 9 if there are any");
  add_flag(command, "--kernels", flags.request.kernels,
           "at the end, list the GPU kernels that ran and how often; products with their dtype");
  add_flag(command, "--deterministic", options.deterministic,
           "record that the run must give the same numbers for the same seed, device and thread count (every "
           "operation does)");
  add_flag(command, "--eager", options.eager,
           "compute each call at once: lg.compile and lg.set_deferred change nothing");
  add_flag(command, "--plan", options.plan,
           "defer the calls of each step, and print on stderr how the calls of the second step are computed "
           "together");
  add_flag(command, "--strict-device", options.strict_device,
           "make it an error when the device lacks an operation");
}

}  // namespace lunagrad
