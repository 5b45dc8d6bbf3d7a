#include "script/cli/command/open.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/system/libraries.h"
#include "script/cli/command/all.h"
#include "script/run/record.h"
#include "script/view/run.h"

namespace lunagrad {
namespace {

std::string workbench() { return own_neighbour("lunagrad-workbench"); }

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

// Libraries that the workbench is linked with; the system cannot start it without them.
struct LinkedLibrary {
  const char* file;
  const char* what;
};
constexpr LinkedLibrary kLibraries[] = {
    {"libvulkan.so.1", "Vulkan's loader (package libvulkan1, and a driver: mesa-vulkan-drivers)"},
    {"libglfw.so.3", "GLFW (package libglfw3)"},
    {"libfontconfig.so.1", "fontconfig (package libfontconfig1)"},
};

bool can_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

std::string missing_for_window() {
  std::error_code error;
  if (!std::filesystem::exists(workbench(), error))
    return workbench() + " is not there; it is built with -DLUNAGRAD_UI=ON";
  for (const LinkedLibrary& library : kLibraries)
    if (!can_load(library.file))
      return std::string(library.file) + " cannot be loaded: install " + library.what;
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
    return "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): log in on a desktop, use ssh "
           "-X, or "
           "xvfb-run (package xvfb)";
  return {};
}

namespace {

struct OpenFlags {
  std::string script, device, run_directory;
  std::vector<std::string> arguments, set;
  std::optional<uint64_t> seed;
  std::optional<int64_t> steps, ranks;
  double checkpoint_every = 0;  // 0: the workbench's default
  bool trust = false, sandbox = false;
  double timeout = 0;           // seconds; 0: none
  size_t memory = 0, disk = 0;  // bytes; 0: the workbench's default
  // Of the window itself.
  bool light = false, dark = false, no_state = false;
  std::string size, scale, state;
};

// The command line of the workbench.
std::vector<std::string> words_for_workbench(const OpenFlags& flags) {
  std::vector<std::string> words;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  if (flags.ranks) add("--ranks", std::to_string(*flags.ranks));
  for (const std::string& setting : flags.set) add("--set", setting);
  if (flags.seed) add("--seed", std::to_string(*flags.seed));
  if (flags.steps) add("--steps", std::to_string(*flags.steps));
  if (flags.checkpoint_every > 0) add("--checkpoint-every", text(flags.checkpoint_every));
  add("--device", flags.device);
  add("--run-dir", flags.run_directory);
  if (flags.trust) words.push_back("--trust");
  if (flags.sandbox) words.push_back("--sandbox");
  if (flags.timeout > 0) add("--timeout", shortest_number(flags.timeout));
  if (flags.memory > 0) add("--memory", std::to_string(flags.memory >> 20));
  if (flags.disk > 0) add("--disk", std::to_string(flags.disk >> 20));
  if (flags.light) words.push_back("--light");
  if (flags.dark) words.push_back("--dark");
  add("--size", flags.size);
  add("--scale", flags.scale);
  add("--state", flags.state);
  if (flags.no_state) words.push_back("--no-state");
  if (!flags.script.empty()) words.push_back(flags.script);
  if (!flags.arguments.empty()) {
    words.push_back("--");
    words.insert(words.end(), flags.arguments.begin(), flags.arguments.end());
  }
  return words;
}

// Returns only when the workbench cannot be started.
int open_workbench(const std::vector<std::string>& arguments) {
  if (const std::string missing = missing_for_window(); !missing.empty()) {
    std::cerr << "lunagrad open: " << missing << "\n"
              << "lunagrad open: lunagrad run SCRIPT needs no window\n";
    return int(Outcome::device);
  }
  const std::string program = workbench();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  std::cerr << "lunagrad open: " << program << ": " << std::strerror(errno) << "\n";
  return int(Outcome::device);
}

}  // namespace

Action add_open(Program& program) {
  const auto flags = std::make_shared<OpenFlags>();
  CLI::App& command =
      add_command(program, "open", "open the workbench window: [SCRIPT | RUN | SWEEP] [flags] [-- ARGS]");
  add_optional_argument(
      command, "script", flags->script,
      "a Lua file, a bundle, the folder of a run or of a sweep, or a run's name in runs/ or a part of it");
  add_arguments(command, "arguments", flags->arguments, "given to the script, after --");
  add_list(command, "--set", flags->set, "NAME=VALUE: set a parameter of lg.run.param; may be repeated");
  add_option(command, "--seed", flags->seed, "seed of the random numbers (default 0)");
  add_option(command, "--device", flags->device, "default device of tensors: cpu, vulkan, vulkan:1, …");
  add_option(command, "--steps", flags->steps, "replaces the number of steps in lg.run.steps");
  add_option(command, "--run-dir", flags->run_directory,
             "folder for the run's files (default runs/<time>-<script>-<id>)");
  add_seconds(command, "--checkpoint-every", flags->checkpoint_every,
              "seconds between automatic checkpoints (default 20)");
  add_option(command, "--ranks", flags->ranks,
             "run the script in so many processes; the window shows rank 0: lunagrad help what-the-ranks-do");
  add_flag(
      command, "--trust", flags->trust,
      "run what somebody else has made with your rights, now and later, without a question: lunagrad help "
      "trust");
  add_flag(command, "--sandbox", flags->sandbox,
           "run every script of the window in the sandbox: lunagrad help sandbox");
  add_seconds(command, "--timeout", flags->timeout,
              "stop a run, or the repetition of its steps, after so many seconds without pauses; a call that "
              "Lua cannot interrupt goes on, and the window offers to restart without it");
  add_mebibytes(
      command, "--memory", flags->memory,
      "MiB limit for a script, its tensors and what the window keeps of its steps; beyond it the run "
      "fails and the window stays (default with --sandbox: 256)");
  add_mebibytes(
      command, "--disk", flags->disk,
      "MiB limit for the files that a run writes, beyond it the run fails (default with --sandbox: 1024)");
  add_exclusion(command, "--trust", "--sandbox");
  add_flag(command, "--light", flags->light, "the light theme");
  add_flag(command, "--dark", flags->dark, "the dark theme");
  add_option(command, "--size", flags->size, "WxH: the window's size in pixels");
  add_option(command, "--scale", flags->scale, "scale of fonts and measures (default: the monitor's)");
  add_option(command, "--state", flags->state,
             "folder of layout and settings (default $XDG_STATE_HOME/lunagrad)");
  add_flag(command, "--no-state", flags->no_state, "keep and restore no layout and settings");
  add_exclusion(command, "--light", "--dark");
  add_exclusion(command, "--state", "--no-state");
  set_footer(command, "lunagrad-workbench --help lists what the window takes beside these.");
  return [=] {
    for (const std::string& setting : flags->set)
      if (const size_t equals = setting.find('='); equals == setting.npos || equals == 0) {
        std::cerr << "lunagrad open: --set " << setting << ": expected name=value\n";
        return int(Outcome::usage);
      }
    try {
      flags->script = find_if_named(flags->script);
    } catch (const Error& error) {  // several runs have this name
      std::cerr << "lunagrad open: " << error.what() << "\n";
      return int(Outcome::file);
    }
    return open_workbench(words_for_workbench(*flags));
  };
}

}  // namespace lunagrad
