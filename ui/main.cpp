// lunagrad-workbench: opens the window with a script. The composition root: the only file that makes the
// engine's Vulkan devices known.
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/terminal_text.h"
#include "runtime/dist/world.h"
#include "runtime/system/libraries.h"
#include "script/launch_ranks.h"
#include "script/meta/library.h"
#include "script/parts/names.h"
#include "script/run/bundle.h"
#include "script/run/record.h"
#include "script/run/sweep.h"
#include "script/standard_streams.h"
#include "ui/app/app.h"
#ifdef LUNAGRAD_GPU
#include "gpu/gpu.h"
#endif

namespace {

constexpr const char* kUsage =
    "lunagrad-workbench [SCRIPT | RUN | SWEEP] [flags] [-- ARGUMENTS]\n"
    "  opens the window and runs SCRIPT in it, or shows the curves of the run in the folder or bundle RUN,\n"
    "  or the trials in the folder SWEEP\n"
    "  --set NAME=VALUE     a parameter of lg.run.param\n"
    "  --seed N  --device D  --steps N  --run-dir DIR\n"
    "                       as for lunagrad run\n"
    "  --trust              runs what somebody else has made with your rights, now and later, without a "
    "question;\n"
    "                       not what is opened later in the window\n"
    "  --sandbox            runs every script of this window in the sandbox: lunagrad help sandbox\n"
    "  --memory MIB         for a script and its tensors, with what the window keeps of its steps; beyond it "
    "the\n"
    "                       run fails and the window stays (with --sandbox: 256)\n"
    "  --disk MIB           for the files that a run writes; beyond it the run fails (with --sandbox: 1024)\n"
    "  --timeout S          stops a run, or the repetition of its steps, after so many seconds without "
    "pauses; not\n"
    "                       a call that Lua cannot interrupt, for which the window offers to restart without "
    "it\n"
    "  --ranks N            the script runs in N processes, which mpirun starts; the window shows rank 0\n"
    "  --checkpoint-every S seconds between automatic checkpoints, 20; a negative number: none\n"
    "  --light  --dark      the theme\n"
    "  --size WxH           of the window, in pixels\n"
    "  --scale F            of fonts and measures; otherwise the monitor's\n"
    "  --state DIR          where layout and settings are kept, and what a crash leaves behind;\n"
    "                       $XDG_STATE_HOME/lunagrad, with --drive nowhere\n"
    "  --no-state           keeps and restores nothing\n"
    "  --times              says how long the first frame took\n"
    "  --drive FILE ARG...  a Lua script plays the user, then the window closes; it gets the\n"
    "                       words up to the next flag as arg\n"
    "  --validation         check every Vulkan call; a message makes the exit code 1\n"
    "exit code: 0, 1 drive or validation failed, 2 usage, 5 no display or Vulkan driver, 6 bad file\n";

constexpr uint64_t kLeastMebibytes = 8, kMostMebibytes = uint64_t(1) << 40;  // as in lunagrad run

struct Usage {
  std::string message;
};

// Parses the command line into `options`, and copies all arguments except the script to `flags`. Returns
// false when help was requested.
bool parse(int argc, char** argv, lunagrad::App::Options& options, std::vector<char*>& flags,
           int64_t& ranks) {
  std::optional<std::string> state;
  for (int i = 0; i < argc; ++i) options.run.command_line += (i ? " " : "") + std::string(argv[i]);
  flags.assign(argv, argv + argc);
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw Usage{flag + " needs a value"};
      return argv[++i];
    };
    const auto number = [&]() -> double {
      const std::string text = value();
      char* end = nullptr;
      const double parsed = std::strtod(text.c_str(), &end);
      if (end == text.c_str() || *end) throw Usage{flag + " needs a number, got \"" + text + "\""};
      return parsed;
    };
    const auto whole = [&](auto result) {
      const std::string text = value();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
      if (error != std::errc() || end != text.data() + text.size() || text.front() == '-')
        throw Usage{flag + " needs a whole number from 0 on, got \"" + text + "\""};
      return result;
    };
    const auto mebibytes = [&] {
      const uint64_t count = whole(uint64_t());
      if (count < kLeastMebibytes || count > kMostMebibytes)
        throw Usage{flag + " takes MiB from 8 to 2^40, got " + argv[i]};
      return size_t(count) << 20;
    };
    if (flag == "-h" || flag == "--help") {
      return false;
    } else if (flag == "--set") {
      const std::string pair = value();
      const size_t equals = pair.find('=');
      if (equals == pair.npos || equals == 0) throw Usage{"--set needs NAME=VALUE, got \"" + pair + "\""};
      options.run.set[pair.substr(0, equals)] = pair.substr(equals + 1);
    } else if (flag == "--seed") {
      options.run.seed = whole(uint64_t());
    } else if (flag == "--steps") {
      options.run.steps = whole(int64_t());
    } else if (flag == "--ranks") {
      ranks = whole(int64_t());
      if (ranks < 1 || ranks > lunagrad::kMostRanks)
        throw Usage{"--ranks takes 1 to " + std::to_string(lunagrad::kMostRanks) + ", got \"" + argv[i] +
                    "\""};
    } else if (flag == "--checkpoint-every") {
      options.run.checkpoint_every = number();
    } else if (flag == "--trust") {
      options.trust = true;
    } else if (flag == "--sandbox") {
      options.run.sandbox = true;
    } else if (flag == "--timeout") {
      options.run.timeout = number();
      if (!(options.run.timeout > 0)) throw Usage{flag + " takes seconds above 0, got " + argv[i]};
    } else if (flag == "--memory") {
      options.run.memory = mebibytes();
    } else if (flag == "--disk") {
      options.run.disk = mebibytes();
    } else if (flag == "--device") {
      options.run.device = value();
    } else if (flag == "--run-dir") {
      options.run.run_directory = value();
    } else if (flag == "--light" || flag == "--dark") {
      options.window.dark = flag == "--dark";
      options.themed = true;
    } else if (flag == "--scale") {
      options.window.scale = float(number());
    } else if (flag == "--size") {
      const std::string size = value();
      if (std::sscanf(size.c_str(), "%dx%d", &options.window.width, &options.window.height) != 2 ||
          options.window.width < 1 || options.window.height < 1)
        throw Usage{"--size needs WIDTHxHEIGHT, got \"" + size + "\""};
      options.sized = true;
    } else if (flag == "--state") {
      state = value();
    } else if (flag == "--no-state") {
      state = "";
    } else if (flag == "--times") {
      options.times = true;
    } else if (flag == "--drive") {
      options.drive = value();
      while (i + 1 < argc && argv[i + 1][0] != '-') options.drive_arguments.push_back(argv[++i]);
    } else if (flag == "--validation") {
      options.window.validation = true;
    } else if (flag == "--") {
      options.run.arguments.assign(argv + i + 1, argv + argc);
      break;
    } else if (flag.size() > 1 && flag[0] == '-') {
      throw Usage{"unknown flag " + flag};
    } else if (options.script.empty()) {
      options.script = flag;
      flags.erase(flags.begin() + i);
    } else {
      throw Usage{"more than one script: " + options.script + " and " + flag};
    }
  }
  if (options.trust && options.run.sandbox)
    throw Usage{"--trust runs it with your rights, and --sandbox does not: leave one of them out"};
  options.state_folder = state ? *state : options.drive.empty() ? lunagrad::state_directory() : "";
  if (!options.script.empty() && (lunagrad::is_run(options.script) || lunagrad::is_sweep(options.script) ||
                                  lunagrad::is_bundle(options.script)))
    options.opened_run = std::exchange(options.script, {});
  return true;
}

// Starts the ranks with mpirun: rank 0 is this program with its window, the other ranks run the command line
// program. Returns only when mpirun cannot be started.
void start_ranks(int64_t count) {
  std::vector<std::string> words = {"-np", "1", lunagrad::own_neighbour("lunagrad-workbench")};
  for (std::string& word : lunagrad::arguments_without_ranks()) words.push_back(std::move(word));
  for (const std::string& word : {std::string(":"), std::string("-np"), std::to_string(count - 1),
                                  lunagrad::own_neighbour("lunagrad"), std::string("follow")})
    words.push_back(word);
  setenv(lunagrad::dist::kLastingVariable, std::to_string(count).c_str(), 1);
  lunagrad::launch_ranks("lunagrad-workbench", std::move(words));
}

// The first Ctrl-C closes the window normally; the second one ends the program.
void end_in_order(int signal) {
  std::signal(signal, SIG_DFL);
  lunagrad::App::terminate();
}

}  // namespace

int main(int argc, char** argv) {
  lunagrad::fill_closed_streams();
  lunagrad::App::Options options;
  options.main_began = lunagrad::milliseconds_since_start();
  std::vector<char*> flags;
  options.restart = [&flags] {
    flags.push_back(nullptr);
    ::execv("/proc/self/exe", flags.data());
    flags.pop_back();
  };
  int64_t ranks = 1;
  try {
    if (!parse(argc, argv, options, flags, ranks)) {
      std::fputs(kUsage, stdout);
      return 0;
    }
  } catch (const Usage& usage) {
    std::fprintf(stderr, "lunagrad-workbench: %s\n%s", lunagrad::terminal_text(usage.message).c_str(),
                 kUsage);
    return 2;
  }
  if (ranks > 1 && lunagrad::is_left_out("lg.distributed")) {
    std::fputs("lunagrad-workbench: --ranks is not part of this build\n", stderr);
    return 5;
  }
  if (ranks > 1) {
    if (lunagrad::dist::launched_size() == 1)
      start_ranks(ranks);
    else
      std::fputs("lunagrad-workbench: --ranks inside of mpirun or srun: leave it out\n", stderr);
    return 2;
  }
  std::signal(SIGINT, end_in_order);
  std::signal(SIGTERM, end_in_order);
  std::signal(SIGXFSZ, SIG_IGN);  // a write past the limit of ulimit -f becomes an error of the write call
#ifdef LUNAGRAD_GPU
  lunagrad::gpu::install();
#endif
  try {
    if (lunagrad::dist::lasts()) {
      options.restart = [] {};  // when a rank ends, the launcher ends all ranks
      lunagrad::dist::open_lasting_world();
    }
    int code = lunagrad::App(options).loop();
    if (lunagrad::dist::lasts()) {
      lunagrad::dist::close_window_world();
      code = lunagrad::dist::close_world(code);
    }
#ifdef LUNAGRAD_GPU
    lunagrad::gpu::close();
#endif
    return code;
  } catch (const lunagrad::Error& error) {
    std::fprintf(stderr, "lunagrad-workbench: %s\n", lunagrad::terminal_text(error.what()).c_str());
    return error.kind() == lunagrad::ErrorKind::file     ? 6
           : error.kind() == lunagrad::ErrorKind::device ? 5
                                                         : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lunagrad-workbench: %s\n", lunagrad::terminal_text(error.what()).c_str());
    return 1;
  }
}
