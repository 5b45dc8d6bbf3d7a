#include "script/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "script/cli/base/run_flags.h"
#include "script/cli/command/all.h"
#include "script/cli/command/repl.h"

namespace lunagrad {
namespace {

constexpr int kExitUsage = int(Outcome::usage);

std::string joined(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += std::string(i ? " " : "") + argv[i];
  return line;
}

CLI::App* find_command(CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([&](CLI::App* command) { return command->get_name() == name; });
  return commands.empty() ? nullptr : commands.front();
}

// "lunagrad runs show": the command that the words name, whose --help lists its arguments.
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

bool begins_line(const std::string& argument) {
  return argument == "-e" || argument == "--sandbox" || argument.starts_with("--memory") ||
         argument.starts_with("--timeout");
}

// lunagrad [--sandbox] [--memory MiB] [--timeout S] -e CODE [ARGS]
int run_line(int argc, char** argv) {
  const auto is_e = [](const char* argument) { return std::strcmp(argument, "-e") == 0; };
  const int at = int(std::find_if(argv, argv + argc, is_e) - argv);
  RunRequest request;
  CLI::App limits;
  add_limits(limits, request);
  try {
    limits.parse(at, argv);
  } catch (const CLI::ParseError& error) {
    std::cerr << "lunagrad: " << error.what() << "; see lunagrad --help\n";
    return kExitUsage;
  }
  if (argc < at + 2) {
    std::cerr << "lunagrad: "
              << (at == argc ? "-e CODE expected after the limits; for a file: lunagrad run SCRIPT"
                             : "-e needs code")
              << "\n";
    return kExitUsage;
  }
  return run_code(argv[at + 1], {argv + at + 2, argv + argc}, request);
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
  request.options.command_line = joined(argc, argv);
  return run_and_wait(request);
}

// As the user types it: compare-devices of add_compare_devices.
std::string command_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Trains and inspects neural networks from Lua scripts.", "lunagrad"};
  app.footer(
      "`lunagrad SCRIPT.lua [ARGS]` runs a script; `lunagrad -e CODE [ARGS]` runs a line, with --sandbox, "
      "--memory and --timeout before it.");
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "show this page");
  app.set_version_flag("--version", std::string("lunagrad ") + LUNAGRAD_VERSION);
  Program program{app, joined(argc, argv)};
  std::vector<std::pair<std::string, Action>> actions;
#define LUNAGRAD_ADD(name) actions.emplace_back(command_name(#name), add_##name(program));
  LUNAGRAD_COMMANDS(LUNAGRAD_ADD)
#undef LUNAGRAD_ADD

  // A file, or -e: what follows belongs to the script, flags included.
  if (argc > 1 && begins_line(argv[1])) return run_line(argc, argv);
  if (argc > 1 && argv[1][0] != '-' && !find_command(app, argv[1])) return run_file(argc, argv);
  if (argc == 1) return run_repl({});

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string command = command_of(app, argc, argv);
    std::cerr << command << ": " << error.what() << "; see " << command << " --help\n";
    return kExitUsage;
  }
  for (const auto& [name, action] : actions)
    if (app.got_subcommand(name)) return action();
  std::cout << app.help();
  return 0;
}

}  // namespace lunagrad
