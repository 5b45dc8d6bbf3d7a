// `lunagrad probe RUN EXPR`: replays a run and prints the values of an expression at each step.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/replaying.h"
#include "script/cli/base/table.h"
#include "script/cli/command/all.h"
#include "script/cli/trust/permission.h"
#include "script/cli/trust/time_limit.h"
#include "script/run/json.h"
#include "script/run/record.h"
#include "script/time/probe_file.h"

namespace lunagrad {
namespace {

struct Asked {
  std::string folder, at;
  Probe probe;
  std::optional<int64_t> from, to;
  bool json = false, log = false;
  TrustFlags trust;
};

// The place in "12" or "FILE:12"; nothing when the text is neither.
std::optional<SourcePlace> place_in_text(const std::string& at) {
  const size_t colon = at.rfind(':');
  const std::string digits = colon == at.npos ? at : at.substr(colon + 1);
  SourcePlace place;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.line);
  if (error != std::errc() || end != digits.data() + digits.size() || place.line < 1) return std::nullopt;
  if (colon != at.npos) place.file = at.substr(0, colon);
  return place;
}

void print_rows(const ProbeRows& rows, bool json) {
  if (json) {
    for (const auto& [step, value] : rows.values)
      std::cout << json_text({{"step", step}, {"name", rows.name}, {"value", json_number(value)}}) << "\n";
    return;
  }
  std::vector<std::vector<std::string>> table{{"step", rows.name}};
  for (const auto& [step, value] : rows.values)
    table.push_back({std::to_string(step), general_number(value)});
  print_table(table);
}

int probe(const Asked& asked) {
  Probe wanted = asked.probe;
  if (wanted.name.empty()) wanted.name = wanted.expression;
  ProbeRows rows{wanted.name, wanted.expression, wanted.place, {}};
  int64_t first = 1, last = 0;
  std::string problem;
  Replay* replayed = nullptr;
  const auto take = [&](const Event& event) {  // on the session's thread
    if (event.kind != Event::Kind::probe || !problem.empty()) return;
    if (!event.text.empty()) {
      problem = text(wanted.name, ", step ", event.step, ": ", event.text);
      replayed->cancel();
    } else if (event.step >= first && event.step <= last) {
      rows.values.emplace_back(event.step, event.metrics[0].second);
    }
  };
  const std::string folder = find_named(asked.folder);
  ReplayOptions options = permission_for("probe", folder, asked.trust).options(asked.trust);
  options.events = take;
  ShownReplay replay("probe", folder, std::move(options));
  replayed = &*replay;
  const TimeLimit limit(asked.trust.limits.options.timeout, [&replay] { replay->cancel(); });
  first = wanted.first = asked.from.value_or(replay->first_step());
  last = asked.to.value_or(replay->steps());
  replay.show_up_to(last);
  const auto prepare = [&](SessionWatches& session) {
    rows.values.clear();
    std::string why;
    if (session.add_probe(wanted, &why) == 0) fail(wanted.name, ": ", why);
  };
  try {
    replay->run_through(first, last, prepare);
  } catch (const Error&) {
    if (limit.passed()) return kExitTimeout;
    if (problem.empty()) throw;
  }
  if (!problem.empty()) fail(problem);
  replay.finish();
  if (rows.values.empty())
    fail(wanted.name, ": ", asked.at, " was not reached in the steps ", first, " to ", last);
  print_rows(rows, asked.json);
  if (asked.log) append_probe(folder, rows);
  return 0;
}

}  // namespace

Action add_probe(Program& program) {
  const auto asked = std::make_shared<Asked>();
  CLI::App& command = add_command(program, "probe", "the values of an expression in each step of a run");
  add_argument(command, "RUN", asked->folder, "a run's folder, or the beginning or end of its name");
  add_argument(command, "EXPR", asked->probe.expression,
               "Lua, such as 'model.fc1.weight.grad:norm()', or 'norm of model.fc1.weight.grad'");
  add_option(command, "--at", asked->at,
             "read it each time before this line runs: LINE or FILE:LINE (default: at the end of each step)",
             "PLACE");
  add_option(command, "--name", asked->probe.name, "its name in the results (default: the expression)");
  add_option(command, "--from", asked->from, "the first step (default: the run's first)");
  add_option(command, "--to", asked->to, "the last step (default: the run's last)");
  add_flag(command, "--json", asked->json, "one JSON object per line");
  add_flag(command, "--log", asked->log, "also append the values to the run's probes.jsonl");
  add_trust_flags(command, asked->trust);
  return [=] {
    const std::optional<SourcePlace> place = asked->at.empty() ? SourcePlace() : place_in_text(asked->at);
    if (!place) {
      std::cerr << "lunagrad probe: --at " << asked->at
                << ": LINE or FILE:LINE expected, such as train.lua:12\n";
      return int(Outcome::usage);
    }
    asked->probe.place = *place;
    return carry_out("probe", [&] { return probe(*asked); });
  };
}

}  // namespace lunagrad
