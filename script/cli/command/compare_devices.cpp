// `lunagrad compare-devices SCRIPT`: runs a script up to the end of one step, computes each node of that step
// again in another way, from the same values, and says which nodes are wrong by themselves.
#include <future>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/op_name.h"
#include "runtime/core/path_text.h"
#include "script/cli/base/run_flags.h"
#include "script/cli/base/table.h"
#include "script/cli/command/all.h"
#include "script/run/json.h"

namespace lunagrad {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kUnlimited = size_t(1) << 50;  // bytes: every value of the step is kept

struct DevicesRequest {
  RunFlags flags;
  ComparisonQuery query;
  int64_t step = 3;
  bool json = false;
};

std::string shape_of_tensor(const std::vector<int64_t>& shape) {
  std::string words = "[";
  for (const int64_t size : shape) words += text(words.size() > 1 ? ", " : "", size);
  return words + "]";
}

const char* verdict_name(const ComparedNode& node) {
  switch (node.verdict) {
    case Verdict::wrong:
      return "wrong";
    case Verdict::not_compared:
      return "not compared";
    case Verdict::right:
      break;
  }
  return "ok";
}

// ---- as text

std::string accusation(const ComparedNode& node) {
  const TensorError& worst = *worst_tensor(node);
  return text(public_op_name(node.op), node.name.empty() ? "" : " " + node.name, " (", direction_name(node),
              ")", compared_place(node).empty() ? "" : " in " + compared_place(node), ": its ", worst.name,
              " ", shape_of_tensor(worst.shape), " differs by ", error_figure(worst.error),
              ", rounding allows ", error_figure(worst.allowed), "; ", worst.reference, " and ", worst.other,
              " at ", shape_of_tensor([&] {
                std::vector<int64_t> at = worst.at;
                for (int64_t& place : at) ++place;
                return at;
              }()));
}

void print_comparison(const StepComparison& comparison) {
  std::cout << "step " << comparison.step << ": " << comparison.reference << " and " << comparison.other
            << "\n"
            << comparison_counts(comparison) << "\n";
  for (const ComparedNode& node : comparison.nodes)
    if (node.verdict == Verdict::wrong) std::cout << "wrong: " << accusation(node) << "\n";
  std::vector<std::vector<std::string>> rows = {
      {"", "op", "where", "shape", "by itself", "allowed", "inherited", "verdict"}};
  for (const ComparedNode& node : comparison.nodes) {
    const TensorError* const worst = worst_tensor(node);
    const bool inherits = only_inherits(node);
    const std::string op = node.op == "leaf" && !node.name.empty() ? node.name : public_op_name(node.op);
    std::string verdict = inherits ? "" : verdict_name(node);
    if (!node.note.empty()) verdict += (verdict.empty() ? "" : ": ") + node.note;
    rows.push_back({node.backward ? "backward" : "forward", op, compared_place(node),
                    worst ? shape_of_tensor(worst->shape) : "",
                    worst && !inherits ? error_figure(worst->error) : "",
                    worst && !inherits ? error_figure(worst->allowed) : "",
                    worst ? error_figure(inherited_error(node)) : "", verdict});
  }
  print_table(rows);
}

// ---- as JSON

Json tensor_json(const TensorError& tensor) {
  return {{"name", tensor.name},
          {"shape", tensor.shape},
          {"dtype", tensor.dtype},
          {"error", json_number(tensor.error)},
          {"allowed", json_number(tensor.allowed)},
          {"inherited", json_number(tensor.inherited)},
          {"at", tensor.at},
          {"reference", json_number(tensor.reference)},
          {"other", json_number(tensor.other)}};
}

Json node_json(const ComparedNode& node) {
  Json json{{"node", node.node}, {"pass", node.pass}, {"direction", direction_name(node)}, {"op", node.op}};
  if (!node.name.empty()) json["name"] = node.name;
  if (!node.module.empty()) json["module"] = node.module;
  if (node.place.line > 0) {
    json["file"] = path_text(node.place.file);
    json["line"] = node.place.line;
  }
  json["verdict"] = verdict_name(node);
  if (!node.note.empty()) json["note"] = node.note;
  json["tensors"] = Json::array();
  for (const TensorError& tensor : node.tensors) json["tensors"].push_back(tensor_json(tensor));
  return json;
}

void print_comparison_json(const StepComparison& comparison) {
  Json json{{"step", comparison.step},
            {"reference", comparison.reference},
            {"other", comparison.other},
            {"wrong", comparison.wrong},
            {"not_compared", comparison.not_compared}};
  json["nodes"] = Json::array();
  for (const ComparedNode& node : comparison.nodes) json["nodes"].push_back(node_json(node));
  std::cout << json_text(json) << "\n";
}

// ---- the run and the comparison after it

int fail_with(const std::string& reason, Outcome outcome) {
  std::cerr << "lunagrad compare-devices: " << reason << "\n";
  return int(outcome);
}

int compare_run(const DevicesRequest& request, SessionInspection& session, int exit_code,
                const std::function<bool()>& wait) {
  if (!session.reached()) {
    if (exit_code != 0) return exit_code;  // the script's error is already printed
    return fail_with(text("--step ", request.step,
                          ": the script ended before the end of that step; name an "
                          "earlier one"),
                     Outcome::usage);
  }
  std::promise<StepComparison> promise;
  std::future<StepComparison> answer = promise.get_future();
  std::stop_source stop;
  session.compare_step(-1, request.query, stop.get_token(), show_count,
                       [&promise](StepComparison found) { promise.set_value(std::move(found)); });
  while (answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    if (wait()) stop.request_stop();
  const StepComparison comparison = answer.get();
  show_count(0, 0, "");  // removes the progress of an interrupted comparison
  if (stop.stop_requested()) return int(Outcome::stopped);
  if (!comparison.ran) return fail_with(comparison.reason, comparison.outcome);
  request.json ? print_comparison_json(comparison) : print_comparison(comparison);
  return comparison.wrong > 0 ? kExitDiffers : 0;
}

int run_comparison(DevicesRequest& request) {
  RunRequest& run = request.flags.request;
  if (run.script.empty()) return fail_with("the script's name is empty", Outcome::usage);
  if (const std::string wrong = request.flags.take_settings(); !wrong.empty())
    return fail_with(wrong, Outcome::usage);
  run.options.write_run = false;
  run.options.files_aside = true;
  run.before = [&](SessionInspection& session) {
    session.set_history_budget(kUnlimited);
    session.stop_behind(request.step);
  };
  run.after = [&](SessionInspection& session, int exit_code, const std::function<bool()>& wait) {
    return compare_run(request, session, exit_code, wait);
  };
  return run_and_wait(run);
}

}  // namespace

Action add_compare_devices(Program& program) {
  const auto request = std::make_shared<DevicesRequest>();
  RunRequest& run = request->flags.request;
  CLI::App& command = add_command(program, "compare-devices",
                                  "find the operation that is wrong on another device: SCRIPT [-- ARGS]");
  add_argument(command, "script", run.script, "a Lua file");
  add_arguments(command, "arguments", run.options.arguments, "given to the script, after --");
  add_option(
      command, "--step", request->step, {1, int64_t(1) << 53},
      "the step of lg.run.steps that is compared, else the optimizer's step or backward pass (default 3)");
  add_option(
      command, "--with", request->query.with,
      "what is compared with the run: a device, a dtype (f64, f32, bf16, f16), or eager, each call at once "
      "where the script defers calls (default vulkan)");
  add_option(command, "--tolerance", request->query.tolerance, {0, 1e6},
             "multiplies the differences that rounding may make (default 1)");
  add_flag(command, "--json", request->json, "print one object");
  add_option(command, "--seed", run.options.seed, "seed of the random numbers (default 0)");
  add_option(command, "--threads", run.threads,
             "threads of the CPU (default: OMP_NUM_THREADS, else all cores)");
  add_option(command, "--device", run.options.device, "default device of tensors: cpu, vulkan, vulkan:1, …");
  add_list(command, "--set", request->flags.set,
           "NAME=VALUE: set a parameter of lg.run.param; may be repeated");
  add_limits(command, run);
  set_footer(command, "Exit code 7 when a computation is wrong by itself.");
  run.options.command_line = program.command_line;
  return [=] { return run_comparison(*request); };
}

}  // namespace lunagrad
