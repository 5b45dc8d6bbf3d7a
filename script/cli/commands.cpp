#include "script/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "runtime/core/error.h"
#include "runtime/core/version.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/ranks.h"
#include "script/cli/base/run_flags.h"
#include "script/cli/command/all.h"
#include "script/cli/command/repl.h"
#include "script/cli/part_commands.h"
#include "script/parts/names.h"

namespace lunagrad {
namespace {

constexpr int kExitUsage = int(Outcome::usage);

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += std::string(i ? " " : "") + argv[i];
  return line;
}

// For a flag that an earlier version had: its name now.
std::string renamed_flags(int argc, char** argv) {
  const bool renamed = std::find(argv, argv + argc, std::string_view("--no-replay")) != argv + argc;
  return renamed ? "; --no-replay is --eager now" : "";
}

CLI::App* find_command(CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([&](CLI::App* command) { return command->get_name() == name; });
  return commands.empty() ? nullptr : commands.front();
}

// The command that the words name, as "lunagrad runs show"; its --help lists its arguments.
std::string command_of(CLI::App& app, int argc, char** argv) {
  std::string name = app.get_name();
  CLI::App* innermost = &app;
  for (int i = 1; i < argc; ++i) {
    innermost = find_command(*innermost, argv[i]);
    if (!innermost) break;
    name += std::string(" ") + argv[i];
  }
  return name;
}

// The flags of `lunagrad run` around -e CODE.
class LineFlags {
 public:
  LineFlags() = default;
  LineFlags(const LineFlags&) = delete;

  // Returns the words that are not flags; they are an error unless `others`.
  std::vector<std::string> parse(std::vector<std::string> words, bool others) {
    if (words.empty()) return {};
    CLI::App app;
    app.set_help_flag();  // a help flag after the code belongs to the script
    add_run_flags(app, flags_);
    add_flag(app, "--watch", watch_, "");
    add_option(app, "--ranks", ranks_, "");
    app.allow_extras(others);
    std::reverse(words.begin(), words.end());  // CLI11 takes them reversed
    app.parse(std::move(words));
    return app.remaining();
  }
  // An error message, or "".
  std::string wrong() {
    if (watch_ || ranks_)
      return text(watch_ ? "--watch" : "--ranks", " goes with a file: lunagrad run SCRIPT");
    return flags_.take_settings();
  }
  RunRequest& request() { return flags_.request; }
  // A line of code leaves no run folder behind, unless a flag concerns its contents.
  bool asks_for_folder() const {
    const RunOptions& options = flags_.request.options;
    return !options.run_directory.empty() || !options.resume.empty() || options.tensorboard ||
           options.checkpoint_every > 0 || options.keyframes > 0 || flags_.request.stop_at;
  }

 private:
  RunFlags flags_;
  bool watch_ = false;
  std::optional<int64_t> ranks_;
};

// lunagrad [FLAGS] -e CODE [FLAGS] [ARGS] [-- ARGS]
int run_line(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto at = std::find(words.begin(), words.end(), "-e");
  LineFlags flags;
  std::vector<std::string> arguments;
  try {
    LineFlags().parse({words.begin(), at}, false);
    if (words.end() - at >= 2) {
      const auto last = std::find(at + 2, words.end(), "--");
      std::vector<std::string> around(words.begin(), at);
      around.insert(around.end(), at + 2, last);
      arguments = flags.parse(std::move(around), true);
      if (last != words.end()) arguments.insert(arguments.end(), last + 1, words.end());
    }
  } catch (const CLI::ParseError& error) {
    std::cerr << "lunagrad: " << error.what() << renamed_flags(argc, argv) << "; see lunagrad --help\n";
    return kExitUsage;
  }
  std::string wrong = flags.wrong();
  if (at == words.end())
    wrong = "-e CODE expected after the flags; for a file: lunagrad run SCRIPT";
  else if (at + 1 == words.end())
    wrong = "-e needs code";
  if (!wrong.empty()) {
    std::cerr << "lunagrad: " << wrong << "\n";
    return kExitUsage;
  }
  RunRequest& request = flags.request();
  request.code = at[1];
  request.options.arguments = std::move(arguments);
  request.options.command_line = command_line(argc, argv);
  request.options.preload = true;
  request.options.write_run = flags.asks_for_folder();
  take_rank(request);
  return run_and_wait(request);
}

// lunagrad SCRIPT [ARGS]
int run_file(int argc, char** argv) {
  const std::string name = argv[1];
  if (!name.ends_with(".lua") && !std::filesystem::exists(name)) {
    std::cerr << "lunagrad: '" << name << "' is neither a command nor a file; see lunagrad --help\n";
    return kExitUsage;
  }
  RunRequest request;
  request.script = name;
  request.options.arguments = {argv + 2, argv + argc};
  request.options.command_line = command_line(argc, argv);
  return run_and_wait(request);
}

// The name that the user types: compare-devices for add_compare_devices.
std::string command_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

using Actions = std::vector<std::pair<std::string, Action>>;  // by the name of the command

void add_part_commands(Program& program, Actions& actions) {
  for (const PartCommand& command : part_commands())
    if (command.add) actions.emplace_back(command_name(command.name), command.add(program));
}

bool is_left_out_command(const std::string& name) {
  const auto commands = part_commands();
  return std::any_of(commands.begin(), commands.end(), [&](const PartCommand& command) {
    return !command.add && command_name(command.name) == name;
  });
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Trains and inspects neural networks from Lua scripts.", "lunagrad"};
  app.footer(
      "`lunagrad SCRIPT.lua [ARGS]` runs a script; `lunagrad -e CODE [FLAGS] [-- ARGS]` runs a line, with "
      "the "
      "flags of `lunagrad run`.");
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "show this page");
  app.set_version_flag("--version", std::string("lunagrad ") + LUNAGRAD_VERSION);
  Program program{app, command_line(argc, argv)};
  Actions actions;
#define LUNAGRAD_ADD(name) actions.emplace_back(command_name(#name), add_##name(program));
  LUNAGRAD_COMMANDS(LUNAGRAD_ADD, add_part_commands(program, actions);)
#undef LUNAGRAD_ADD

  // Flags or -e: a line of code. A file name: what follows belongs to the script, including flags.
  const std::string first = argc > 1 ? argv[1] : "";
  const bool asks = first == "-h" || first == "--help" || first == "--version";
  if (first.starts_with('-') && !asks) return run_line(argc, argv);
  if (is_left_out_command(first))
    return carry_out(first.c_str(), []() -> int { fail_left_out("the command"); });
  if (argc > 1 && argv[1][0] != '-' && !find_command(app, argv[1])) return run_file(argc, argv);
  if (argc == 1) return run_repl({});

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string command = command_of(app, argc, argv);
    std::cerr << command << ": " << error.what() << renamed_flags(argc, argv) << "; see " << command
              << " --help\n";
    return kExitUsage;
  }
  for (const auto& [name, action] : actions)
    if (app.got_subcommand(name)) return action();
  std::cout << app.help();
  return 0;
}

}  // namespace lunagrad
