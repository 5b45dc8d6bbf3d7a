#include "script/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <lua.hpp>

#include "runtime/device.h"
#include "script/cli/base/runner.h"
#include "script/cli/bench/device_ops.h"
#include "script/cli/bench/ops.h"
#include "script/cli/command/check.h"
#include "script/cli/command/convert.h"
#include "script/cli/command/doctor.h"
#include "script/cli/command/info.h"
#include "script/cli/command/init.h"
#include "script/cli/command/open.h"
#include "script/cli/command/reference.h"
#include "script/cli/command/repl.h"
#include "script/cli/command/repro.h"
#include "script/cli/command/runs.h"
#include "script/cli/command/test.h"
#include "script/cli/command/tune.h"
#include "script/lua/state.h"
#include "script/meta/annotations.h"
#include "script/meta/explain.h"
#include "script/meta/pages.h"
#include "script/meta/topics.h"

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

// CLI11's own check says up to which number, with 309 digits.
std::string above_zero(const std::string& text) {
  return std::strtod(text.c_str(), nullptr) > 0 ? "" : text + " is not a number above 0";
}

// "lunagrad runs show": the command that the words name, whose --help says what it takes.
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

// What was given to `run` and its kin.
struct RunFlags {
  RunRequest request;
  std::vector<std::string> set;

  // Splits --set k=v; a sentence when one has no '='.
  std::string take_settings() {
    for (const std::string& setting : set) {
      const size_t equals = setting.find('=');
      if (equals == std::string::npos || equals == 0) return "--set " + setting + ": expected name=value";
      request.options.set[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
    return {};
  }
};

// An option that takes one of a few words.
template <class E>
void add_choice(CLI::App& app, const std::string& name, E& value,
                std::vector<std::pair<std::string, E>> choices, const char* about) {
  std::string words;
  for (const auto& [word, meaning] : choices) words += (words.empty() ? "" : "|") + word;
  const auto take = [=, &value](const std::string& given) {
    const auto found = std::find_if(choices.begin(), choices.end(),
                                    [&](const auto& choice) { return choice.first == given; });
    if (found == choices.end())
      throw CLI::ValidationError(name, "one of " + words + " expected (got '" + given + "')");
    value = found->second;
  };
  app.add_option_function<std::string>(name, take, about)->type_name(words);
}

// What a run, or a line after -e, may take.
void add_limits(CLI::App& app, RunRequest& request) {
  app.add_option("--timeout", request.timeout, "end the program after so many seconds, with exit code 124")
      ->check(CLI::Validator(above_zero, "POSITIVE"));
  app.add_flag("--sandbox", request.options.sandbox,
               "run an untrusted script with limits: lunagrad help sandbox");
  app.add_option_function<size_t>(
         "--memory", [&request](size_t mebibytes) { request.options.memory = mebibytes << 20; },
         "MiB limit for the script and its tensors, exit code 8 beyond it (default with --sandbox: 256)")
      ->check(CLI::Range(size_t(8), size_t(1) << 40));
}

void add_run_flags(CLI::App& app, RunFlags& flags) {
  RunOptions& options = flags.request.options;
  app.add_option("--seed", options.seed, "seed of the random numbers (default 0)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--device", options.device, "default device of tensors: cpu, vulkan, vulkan:1, …");
  app.add_option("--set", flags.set, "NAME=VALUE: set a parameter of lg.run.param; may be repeated")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--steps", options.steps, "replaces the number of steps in lg.run.steps")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--resume", options.resume, "resume from a run's folder, or from one of its checkpoints");
  app.add_option("--run-dir", options.run_directory,
                 "folder for the run's files (default runs/<time>-<script>-<id>)");
  add_limits(app, flags.request);
  app.add_flag("--json", flags.request.json, "one JSON object per line on stdout, everything else on stderr");
  add_choice(app, "--progress", flags.request.progress,
             {{"auto", ProgressStyle::automatic},
              {"bar", ProgressStyle::bar},
              {"plain", ProgressStyle::plain},
              {"none", ProgressStyle::none}},
             "how to show progress (auto: a bar on a terminal, else lines)");
  add_choice(app, "--guard", options.guard,
             {{"off", GuardLevel::off}, {"step", GuardLevel::step}, {"op", GuardLevel::op}},
             "end the run with exit code 4 at NaN or Inf: checked at each step, or after each op");
  app.add_flag("--tensorboard", options.tensorboard,
               "also write an event file for TensorBoard into the run's folder");
  app.add_option("--profile", flags.request.profile,
                 "measure time and memory, and write a trace for https://ui.perfetto.dev")
      ->type_name("FILE");
  app.add_flag("--kernels", flags.request.kernels,
               "at the end, list the GPU kernels that ran and how often; products with their dtype");
  app.add_flag("--deterministic", options.deterministic,
               "record that the run must give the same numbers for the same seed, device and thread count "
               "(every operation does)");
  app.add_flag("--strict-device", options.strict_device,
               "make it an error when the device lacks an operation");
}

int run_code(const std::string& code, std::vector<std::string> arguments, RunRequest request = {}) {
  request.code = code;
  request.options.arguments = std::move(arguments);
  request.options.preload = true;
  request.options.write_run = false;
  return run_and_wait(request);
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

int list_devices(bool with_ops) {
  for (const auto& device : devices()) {
    const std::string name(device->name());
    std::cout << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << device->description();
    if (const size_t total = device->memory().total) std::cout << ", " << (total >> 20) << " MiB";
    std::cout << "\n";
  }
  std::cerr << missing_devices();
  if (with_ops) print_device_ops(std::cout << "\n");
  return 0;
}

int show_version() {
  std::cout << "lunagrad " << LUNAGRAD_VERSION << " (" << LUA_RELEASE << ")\n";
  return 0;
}

int show_help(CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    std::cout << app.help() << "\nTopics of `lunagrad help TOPIC`:\n" << list_topics();
    return 0;
  }
  CLI::App* const command = find_command(app, topic);
  const std::string text = command ? command->help(app.get_name()) : explain_topic(topic);
  if (text.empty()) {
    const std::string near = suggest(topic, "");
    std::cerr << "lunagrad help: nothing on '" << topic << "'"
              << (near.empty() ? "; topics:\n" + list_topics() : near + "\n");
    return kExitUsage;
  }
  std::cout << text;
  return 0;
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

  RunFlags run;
  CLI::App* run_command = app.add_subcommand("run", "run a script: SCRIPT [flags] [-- ARGS]");
  run_command->add_option("script", run.request.script, "a Lua file")->required();
  run_command->add_option("arguments", run.request.options.arguments, "given to the script, after --");
  run_command->add_flag("--watch", run.request.watch,
                        "reload the script when it, or a module that it requires, changes");
  add_run_flags(*run_command, run);

  RunOptions repl;
  CLI::App* repl_command = app.add_subcommand("repl", "an interactive prompt");
  repl_command->add_option("--seed", repl.seed, "seed of the random numbers (default 0)")
      ->check(CLI::NonNegativeNumber);
  repl_command->add_option("--device", repl.device, "default device of tensors");
  repl_command->footer(
      "Expressions print their values, unless the line ends with a semicolon; `_` is the last value, `?name` "
      "shows help. On a terminal, Tab completes names, methods and paths, Ctrl-R searches earlier lines, "
      "Ctrl-C stops an evaluation, Ctrl-D exits. Slow or large evaluations report their time and memory.");

  const std::function<int()> test = add_test(app);
  const std::function<int()> check = add_check(app);
  const std::function<int()> doctor = add_doctor(app);
  const std::function<int()> init = add_init(app);
  const std::function<int()> runs = add_runs(app);
  const std::function<int()> repro = add_repro(app);

  std::string topic;
  CLI::App* devices_command = app.add_subcommand("devices", "list the devices");
  bool with_ops = false;
  devices_command->add_flag("--ops", with_ops,
                            "list the operations that each device computes itself, with their dtypes");
  std::vector<std::string> arguments;
  CLI::App* open_command = app.add_subcommand("open", "open the workbench window: [SCRIPT] [ARGS]");
  open_command->add_option("arguments", arguments, "for the workbench");
  CLI::App* meta_command = app.add_subcommand("meta", "print annotations of the API for Lua editors");
  bool as_table = false, as_library = false, as_json = false;
  meta_command->add_flag("--table", as_table, "print docs/operations.md instead: a table of all operations");
  meta_command
      ->add_flag("--library", as_library, "print docs/library.md instead: all functions of the library")
      ->excludes("--table");
  meta_command->add_flag("--json", as_json, "print the records of the operations as JSON instead");
  std::vector<std::string> workloads;
  CLI::App* bench_command =
      app.add_subcommand("bench", "measure workloads, all or those named; with --ops every operation");
  CLI::Option* names =
      bench_command->add_option("workloads", workloads, "names of workloads, or of operations after --ops");
  BenchOptions bench;
  bool every_op = false;
  CLI::Option* ops_flag =
      bench_command->add_flag("--ops", every_op, "the speed of each operation compared with memcpy");
  bench_command->add_option("--size", bench.size, "number of elements of the operands (default 2^24)")
      ->check(CLI::Range(int64_t(1024), int64_t(1) << 30))
      ->needs(ops_flag);
  bench_command->add_option("--dtype", bench.dtype, "dtype of the operands (default f32)")->needs(ops_flag);
  bench_command->add_option("--threads", bench.threads, "thread counts (default 1 and all)")
      ->check(CLI::Range(1, 256))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all()
      ->needs(ops_flag);
  std::string bench_device;
  bench_command->add_option("--device", bench_device, "run the GPU workloads, or --tune, on this device")
      ->excludes(ops_flag);
  bool tune = false;
  bench_command->add_flag("--tune", tune, "find the fastest plans for a GPU's matrix products and keep them")
      ->excludes(ops_flag)
      ->excludes(names);
  bench_command->add_flag("--json", bench.json, "one JSON object per line")->needs(ops_flag);
  std::string source, target;
  ConvertOptions convert;
  CLI::App* convert_command =
      app.add_subcommand("convert", "convert an array file to another format, chosen by the file names: A B");
  convert_command->add_option("A", source, "an existing file")->required();
  convert_command->add_option("B", target, "the file to write; see lunagrad help formats")->required();
  convert_command->add_option("--dtype", convert.dtype, "dtype of the output (default: unchanged)");
  convert_command->add_flag("--header", convert.header, "the first line of a csv file holds column names");
  bool info_json = false;
  CLI::App* info_command =
      app.add_subcommand("info", "show the contents of an array file: dtypes, shapes, metadata");
  info_command->add_option("FILE", source, "safetensors, npz, npy, csv, idx, png or text")->required();
  info_command->add_flag("--json", info_json, "one JSON object");
  CLI::App* help_command =
      app.add_subcommand("help", "explain a command, an operation, a function or a topic");
  help_command->add_option("topic", topic, "a name or a topic");
  CLI::App* version_command = app.add_subcommand("version", "print the version");
  std::string shell;
  CLI::App* completion_command = app.add_subcommand("completion", "print shell completions");
  completion_command->add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  CLI::App* man_command = app.add_subcommand("man", "print the manual page, for man -l -");

  // A file, or -e: what follows belongs to the script, flags included.
  if (argc > 1 && begins_line(argv[1])) return run_line(argc, argv);
  if (argc > 1 && argv[1][0] != '-' && !find_command(app, argv[1])) {
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
  if (argc == 1) return run_repl({});

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const std::string command = command_of(app, argc, argv);
    std::cerr << command << ": " << error.what() << "; see " << command << " --help\n";
    return kExitUsage;
  }
  if (*run_command && run.request.script.empty()) {  // as of "$SCRIPT" that is not set
    std::cerr << "lunagrad run: the script's name is empty\n";
    return kExitUsage;
  }
  if (*run_command) {
    if (const std::string wrong = run.take_settings(); !wrong.empty()) {
      std::cerr << "lunagrad run: " << wrong << "\n";
      return kExitUsage;
    }
    run.request.options.command_line = joined(argc, argv);
    return run_and_wait(run.request);
  }
  if (*repl_command) return run_repl(repl);
  if (app.got_subcommand("test")) return test();
  if (app.got_subcommand("check")) return check();
  if (app.got_subcommand("doctor")) return doctor();
  if (app.got_subcommand("init")) return init();
  if (app.got_subcommand("runs")) return runs();
  if (app.got_subcommand("repro")) return repro();
  if (*devices_command) return list_devices(with_ops);
  if (*open_command) return open_workbench(arguments);
  if (*meta_command) {
    (as_json      ? print_records
     : as_table   ? print_op_table
     : as_library ? print_library
                  : print_meta)(std::cout);
    return 0;
  }
  if (*bench_command && every_op) return bench_ops(workloads, bench);
  if (*bench_command && tune) return tune_products(bench_device);
  if (*bench_command) {
    RunRequest request;
    request.options.device = bench_device;
    return run_code("require('lunagrad.bench').run{...}", workloads, request);
  }
  if (*convert_command) return convert_file(source, target, convert);
  if (*info_command) return show_file(source, info_json);
  if (*version_command) return show_version();
  if (*man_command) {
    print_man_page(std::cout, describe(app));
    return 0;
  }
  if (*completion_command) {
    print_completion(std::cout, describe(app), shell);
    return 0;
  }
  if (*help_command) return show_help(app, topic);
  return show_help(app, "");
}

}  // namespace lunagrad
