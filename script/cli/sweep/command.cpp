// `lunagrad sweep`: makes a sweep of a script's parameters, runs its trials, and shows its progress.
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/core/figures.h"
#include "runtime/core/path_text.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/flags.h"
#include "script/cli/base/run_flags.h"
#include "script/cli/base/table.h"
#include "script/cli/sweep/worker.h"
#include "script/cli/trust/permission.h"
#include "script/run/json.h"
#include "script/sweep/board.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

struct Request {
  std::string folder, script;
  std::vector<std::string> arguments, grid, random;
  std::optional<int64_t> trials;
  std::string minimize, maximize, asha;
  RunFlags run;  // only the flags that `sweep new` declares
  sweep::Plan plan;
  sweep::WorkerOptions worker;
  TrustFlags trust;  // for join
  bool json = false;
};

void take_metric(const Request& request, sweep::Plan& plan) {
  const std::string &minimize = request.minimize, &maximize = request.maximize, &asha = request.asha;
  if (!minimize.empty() && !maximize.empty()) fail("--minimize and --maximize: one of them ranks the trials");
  plan.maximize = !maximize.empty();
  plan.asha = !asha.empty();
  const std::string& ranking = plan.maximize ? maximize : minimize;
  if (plan.asha && !ranking.empty() && ranking != asha)
    fail("--asha ", asha, " and ", plan.maximize ? "--maximize " : "--minimize ", ranking,
         ": one metric ranks the trials, name it in both");
  if (!ranking.empty()) plan.metric = ranking;
  if (plan.asha) plan.metric = asha;
}

int make(Request& request) {
  sweep::Plan& plan = request.plan;
  if (const std::string wrong = request.run.take_settings(); !wrong.empty()) fail(wrong);
  take_metric(request, plan);
  for (const std::string& text : request.grid) plan.axes.push_back(sweep::parse_grid(text));
  for (const std::string& text : request.random) plan.axes.push_back(sweep::parse_random(text));
  const RunOptions& options = request.run.request.options;
  plan.set = options.set;
  plan.seed = options.seed.value_or(0);
  plan.device = options.device;
  plan.steps = options.steps;
  plan.arguments = request.arguments;
  plan.script = fs::absolute(request.script).lexically_normal().string();
  plan.directory = fs::current_path().string();
  if (!fs::is_regular_file(plan.script))
    fail_as(ErrorKind::file, request.script, ": there is no such script");
  plan.script_hash = sweep::hash_of_file(plan.script);
  sweep::choose_trials(plan, request.trials);
  sweep::make_sweep(request.folder, plan);
  std::cout << plan.trials.size() << " trials of " << request.script << "; lunagrad sweep join "
            << request.folder << " works on them\n";
  return 0;
}

int join(Request& request) {
  sweep::WorkerOptions& worker = request.worker;
  worker.sweep = request.folder;
  const sweep::Plan plan = sweep::read_plan(request.folder);
  const Permission allowed = permission_for("sweep join",
                                            {.name = request.folder,
                                             .origin = sweep::origin_of_sweep(request.folder),
                                             .script = plan.script,
                                             .source = text_of(request.folder, "script.lua")},
                                            request.trust);
  worker.sandbox = request.trust.limits.options.sandbox;
  worker.memory = request.trust.limits.options.memory;
  worker.disk = request.trust.limits.options.disk;
  worker.confined = allowed.confined;
  return sweep::work(worker);
}

Json as_json(const sweep::Plan& plan, const sweep::Trial& trial) {
  Json params = Json::object();
  for (size_t i = 0; i < plan.axes.size(); ++i) params[plan.axes[i].name] = trial.values[i];
  Json json = {{"trial", trial.number}, {"state", sweep::name_of(trial.state)}, {"params", params}};
  json["metric"] = plan.metric;
  json["best"] = trial.value ? Json(*trial.value) : Json();
  json["best_step"] = trial.value ? Json(trial.value_step) : Json();
  json["step"] = trial.steps;
  json["folder"] = trial.folder.empty() ? Json() : Json(path_text(trial.folder));
  if (!trial.error.empty()) json["error"] = trial.error;
  return json;
}

std::vector<std::string> row_of(const sweep::Trial& trial) {
  std::vector<std::string> row = {std::to_string(trial.number), sweep::name_of(trial.state)};
  row.insert(row.end(), trial.values.begin(), trial.values.end());
  row.push_back(trial.value ? number_figure(*trial.value) + " @ " + std::to_string(trial.value_step) : "");
  row.push_back(std::to_string(trial.steps));
  if (!trial.error.empty()) row.push_back(trial.error);
  return row;
}

void warn_of_damage(const sweep::Board& board) {
  if (const std::string damage = board.damage(); !damage.empty())
    std::cerr << "lunagrad sweep: " << damage << "\n";
}

int list(Request& request) {
  const sweep::Board board(request.folder);
  warn_of_damage(board);
  const sweep::Plan& plan = board.plan();
  const std::vector<sweep::Trial> trials = board.trials();
  if (request.json) {
    for (const sweep::Trial& trial : trials) std::cout << json_text(as_json(plan, trial)) << "\n";
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"trial", "state"}};
  for (const sweep::Axis& axis : plan.axes) rows[0].push_back(axis.name);
  rows[0].push_back((plan.maximize ? "highest " : "lowest ") + plan.metric);
  rows[0].push_back("steps");
  for (const sweep::Trial& trial : trials) rows.push_back(row_of(trial));
  print_table(rows);
  return 0;
}

// The command that trains a trial again, for a shell.
std::string again(const sweep::Plan& plan, const sweep::Trial& trial) {
  const auto quoted = [](const std::string& word) {
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,%@") ==
            std::string::npos &&
        !word.empty())
      return word;
    std::string safe = "'";
    for (const char c : word) safe += c == '\'' ? "'\\''" : std::string(1, c);
    return safe + "'";
  };
  std::string command = "lunagrad run " + quoted(plan.script);
  for (size_t i = 0; i < plan.axes.size(); ++i)
    command += " --set " + quoted(plan.axes[i].name + "=" + trial.values[i]);
  for (const auto& [name, value] : plan.set) command += " --set " + quoted(name + "=" + value);
  command += text(" --seed ", plan.seed, " --threads ", plan.threads);
  if (plan.steps) command += text(" --steps ", *plan.steps);
  if (!plan.device.empty()) command += " --device " + quoted(plan.device);
  if (plan.guard != "off") command += " --guard " + quoted(plan.guard);
  if (!plan.arguments.empty()) command += " --";
  for (const std::string& argument : plan.arguments) command += " " + quoted(argument);
  return command;
}

int best(Request& request) {
  const sweep::Board board(request.folder);
  warn_of_damage(board);
  const sweep::Plan& plan = board.plan();
  const std::vector<sweep::Trial> trials = board.trials();
  const sweep::Trial* const best = sweep::best_of(plan, trials);
  if (!best) fail("no trial of ", request.folder, " has logged ", plan.metric, " yet");
  if (request.json) {
    std::cout << json_text(as_json(plan, *best)) << "\n";
    return 0;
  }
  std::vector<std::vector<std::string>> facts = {{"trial", std::to_string(best->number)},
                                                 {"state", sweep::name_of(best->state)}};
  for (size_t i = 0; i < plan.axes.size(); ++i)
    facts.push_back({"param " + plan.axes[i].name, best->values[i]});
  facts.push_back({plan.metric, shortest_number(*best->value) + " @ " + std::to_string(best->value_step)});
  facts.push_back({"run", best->folder});
  print_table(facts);
  std::cout << "\n" << again(plan, *best) << "\n";
  return 0;
}

void declare_new(CLI::App& command, Request& request) {
  RunOptions& options = request.run.request.options;
  sweep::Plan& plan = request.plan;
  add_argument(command, "script", request.script, "a Lua file whose lg.run.param and lg.run.live are swept");
  add_arguments(command, "arguments", request.arguments, "given to the script, after --");
  add_list(command, "--grid", request.grid,
           "NAME=A,B,… or NAME=1..4: all combinations are tried; may be repeated");
  add_list(command, "--random", request.random,
           "NAME=LOW..HIGH, with :log and :int, or NAME=A,B,…: each trial draws a value; may be repeated");
  add_option(command, "--trials", request.trials, "how many; the points of a grid take turns");
  add_option(command, "--minimize", request.minimize,
             "the metric of lg.run.log that ranks trials (default loss)", "METRIC");
  add_option(command, "--maximize", request.maximize, "the same, where more is better", "METRIC");
  add_option(command, "--asha", request.asha,
             "stop bad trials early by this metric: asynchronous successive halving", "METRIC");
  add_option(command, "--eta", plan.eta, {2, 1000}, "of each rung one in so many goes on");
  add_option(command, "--smallest", plan.smallest, {1, int64_t(1) << 40},
             "steps up to the first rung; the next are eta times as far");
  for (const char* halving : {"--eta", "--smallest"}) add_need(command, halving, "--asha");
  add_option(command, "--seed", options.seed, "seed of what is drawn and of every run (default 0)");
  add_list(command, "--set", request.run.set,
           "NAME=VALUE: a parameter with one value for all trials; may be repeated");
  add_option(command, "--steps", options.steps, "replaces the number of steps in lg.run.steps");
  add_option(command, "--device", options.device, "default device of tensors: cpu, vulkan, vulkan:1, …");
  add_option(command, "--threads", plan.threads, {1, 1024}, "threads of the CPU for each trial");
  add_seconds(command, "--checkpoint-every", plan.checkpoint_every,
              "seconds between automatic checkpoints, from which a killed trial goes on (default 60)");
  add_choice(
      command, "--guard", {"off", "step", "op"},
      [&plan](size_t which) {
        plan.guard = std::array{"off", "step", "op"}[which];
      },
      "a trial fails at NaN or Inf: checked at each step, or after each op");
}

}  // namespace

Action add_sweep(Program& program) {
  const auto request = std::make_shared<Request>();
  CLI::App& app = add_command(program, "sweep", "try a script's parameters: new, join, ls, best");
  struct Command {
    const char* name;
    CLI::App* app;
    int (*run)(Request&);
    Outcome otherwise;
  };
  const auto add = [&](const char* name, const char* about, int (*run)(Request&), Outcome otherwise) {
    CLI::App& command = add_command(app, name, about);
    add_argument(command, "folder", request->folder, "the sweep's folder");
    return Command{name, &command, run, otherwise};
  };
  const std::array commands = {
      add("new", "make a sweep: FOLDER SCRIPT [flags] [-- ARGS]", make, Outcome::usage),
      add("join", "run trials until none is left; any number of workers may", join, Outcome::usage),
      add("ls", "one line per trial", list, Outcome::error),
      add("best", "the trial with the best value", best, Outcome::error)};
  declare_new(*commands[0].app, *request);
  CLI::App& worker = *commands[1].app;
  add_flag(worker, "--wait", request->worker.wait,
           "until the sweep is over, to take over what other workers leave");
  add_flag(worker, "--retry-failed", request->worker.retry_failed,
           "run the trials that failed so far once more");
  add_option(worker, "--patience", request->worker.patience, {1, 86400},
             "seconds until a worker that shows no life counts as dead");
  add_trust_flag(worker, request->trust,
                 "run the script of a sweep that somebody else has made with your rights, now and later: "
                 "lunagrad help trust");
  add_flag(worker, "--sandbox", request->trust.limits.options.sandbox,
           "run the trials as untrusted scripts with limits: lunagrad help sandbox");
  add_mebibytes(worker, "--memory", request->trust.limits.options.memory,
                "MiB limit for a trial's script and its tensors (default with --sandbox: 256)");
  add_mebibytes(worker, "--disk", request->trust.limits.options.disk,
                "MiB limit for the files that a trial writes (default with --sandbox: 1024)");
  add_exclusion(worker, "--trust", "--sandbox");
  set_footer(
      worker,
      "Exit code 1 when a trial failed here. Ctrl-C, SIGTERM and SIGUSR1 end the worker at the end of the "
      "step; the trial goes on from its checkpoint in the next worker.");
  for (const size_t shown : {2, 3})
    add_flag(*commands[shown].app, "--json", request->json, "one JSON object per line");
  return [=] {
    for (const Command& command : commands)
      if (is_chosen(*command.app))
        return carry_out(
            text("sweep ", command.name).c_str(), [&] { return command.run(*request); }, command.otherwise);
    return int(Outcome::usage);
  };
}

}  // namespace lunagrad
