// `lunagrad tape`: examines recorded tapes. `tape diff A B` compares two of them.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/io/atomic_file.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/progress.h"
#include "script/cli/base/replaying.h"
#include "script/cli/base/table.h"
#include "script/cli/command/all.h"
#include "script/cli/trust/permission.h"
#include "script/cli/trust/time_limit.h"
#include "script/report/tape_diff_page.h"
#include "script/run/json.h"
#include "script/tape_diff/compare.h"
#include "script/tape_diff/json.h"

namespace lunagrad {
namespace {

struct TapeRequest {
  std::string a, b, runs = "runs", page;
  TapeDiffOptions options;
  bool json = false, all = false, times = false, force = false;
  TrustFlags trust;
};

bool in_colour() {
  const char *plain = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(plain && *plain) && terminal && std::strcmp(terminal, "dumb") != 0;
}

const char* style_of(const TapeFinding& finding) {
  switch (finding.kind) {
    case TapeFinding::Kind::removed:
      return "31";
    case TapeFinding::Kind::added:
      return "32";
    case TapeFinding::Kind::changed:
      return finding.follows ? "2" : "33";
    default:
      return finding.follows ? "2" : "1";
  }
}

const char* kind_name(const TapeFinding& finding) {
  static constexpr const char* kNames[] = {"removed", "added", "changed", "value moved", "gradient moved"};
  return kNames[size_t(finding.kind)];
}

// "train.lua:12", on both sides if they differ.
std::string places_of_finding(const TapeDiff& diff, const TapeFinding& finding) {
  const auto place = [](const TapeGraph& graph, int node) {
    if (node < 0 || graph.nodes[size_t(node)].line == 0) return std::string();
    const TapeNode& at = graph.nodes[size_t(node)];
    return std::filesystem::path(at.file).filename().string() + ":" + std::to_string(at.line);
  };
  const TapePair& pair = diff.pairs[finding.pairs[0]];
  const std::string a = place(diff.a, pair.a), b = place(diff.b, pair.b);
  if (a.empty() || a == b) return b;
  return b.empty() ? a : a + ", " + b;
}

std::string number_of(size_t count, const char* one, const char* several) {
  return count_figure(int64_t(count)) + " " + (count == 1 ? one : several);
}

void print_head(const TapeDiff& diff) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, graph] : {std::pair("A", &diff.a), std::pair("B", &diff.b)})
    rows.push_back({name, graph->title, graph->step < 0 ? "" : "step " + std::to_string(graph->step),
                    number_of(graph->nodes.size(), "node", "nodes")});
  print_table(rows);
  for (const std::string& note : diff.notes) std::cout << "note: " << note << "\n";
}

// Times are for information: they differ between any two runs.
void print_time(const TapeDiff& diff) {
  const auto sum = [](const TapeGraph& graph, double TapeNode::*time) {
    double all = 0;
    for (const TapeNode& node : graph.nodes) all += node.*time;
    return duration_figure(all);
  };
  std::cout << "time: forward " << sum(diff.a, &TapeNode::forward_ns) << " and "
            << sum(diff.b, &TapeNode::forward_ns) << ", backward " << sum(diff.a, &TapeNode::backward_ns)
            << " and " << sum(diff.b, &TapeNode::backward_ns) << "\n";
}

void print_node_times(const TapeDiff& diff) {
  constexpr size_t kShown = 10;
  std::vector<std::vector<std::string>> rows{{"node", "forward A", "B", "backward A", "B"}};
  for (const size_t p : by_time(diff, kShown)) {
    const TapeNode &a = diff.a.nodes[size_t(diff.pairs[p].a)], &b = diff.b.nodes[size_t(diff.pairs[p].b)];
    rows.push_back({label_of(b), duration_figure(a.forward_ns), duration_figure(b.forward_ns),
                    duration_figure(a.backward_ns), duration_figure(b.backward_ns)});
  }
  std::cout << "\n";
  print_table(rows);
}

void print_findings(const TapeDiff& diff, bool all) {
  constexpr size_t kShown = 20;
  const size_t shown = all ? diff.findings.size() : std::min(kShown, diff.findings.size());
  std::vector<std::vector<std::string>> rows{{"", "difference", "node", "A → B", "", "line"}};
  std::vector<std::string> styles{""};
  for (size_t i = 0; i < shown; ++i) {
    const TapeFinding& finding = diff.findings[i];
    rows.push_back({std::to_string(i + 1), kind_name(finding), finding.name, finding.text,
                    finding.follows ? "follows" : "cause", places_of_finding(diff, finding)});
    styles.push_back(style_of(finding));
  }
  if (!in_colour()) styles.clear();
  std::cout << "\n";
  print_table(rows, styles);
  if (shown < diff.findings.size())
    std::cout << "… and " << diff.findings.size() - shown << " more; --all lists them\n";
}

void print_difference(const TapeDiff& diff, const TapeRequest& request) {
  using Kind = TapeFinding::Kind;
  print_head(diff);
  const size_t moved = diff.count(Kind::value) + diff.count(Kind::gradient);
  size_t causes = 0;
  for (const TapeFinding& finding : diff.findings)
    causes += !finding.follows && (finding.kind == Kind::value || finding.kind == Kind::gradient);
  std::cout << number_of(diff.count(Kind::removed), "node", "nodes") << " removed, "
            << diff.count(Kind::added) << " added, " << diff.count(Kind::changed) << " changed";
  if (!diff.options.structure)
    std::cout << "; " << number_of(moved, "value", "values") << " and gradients moved"
              << (moved ? text(", ", causes, " on their own and ", moved - causes, " that follow") : "");
  std::cout << "\n";
  print_time(diff);
  if (diff.equal())
    std::cout << "equal\n";
  else
    print_findings(diff, request.all);
  if (request.times) print_node_times(diff);
}

// Shows on a terminal that a comparison is under way; removed before a result or an error is printed.
struct ShownWork {
  ShownWork() { show_count(0, 1, "comparing the tapes"); }
  ~ShownWork() { show_count(1, 1, ""); }
  ShownWork(const ShownWork&) = delete;
};

// A step whose tape is not in the folder is replayed. A missing tape means that nothing can be compared, not
// that there is a difference, so all errors are of kind file.
std::string repeat_step(const std::string& folder, int64_t step, const TrustFlags& trust) try {
  ShownReplay replay("tape diff", folder, permission_for("tape diff", folder, trust).options(trust));
  const TimeLimit limit(trust.limits.options.timeout, [&replay] { replay->cancel(); });
  replay.show_up_to(step);
  std::string line = replay->recorded_tape(step);
  replay.finish();
  if (line.empty()) fail(folder, ": step ", step, " has no backward pass, and so no tape");
  return line;
} catch (const UsageError&) {
  throw;
} catch (const Error& error) {
  fail_as(ErrorKind::file, error.what());
}

int compare(const TapeRequest& request) {
  if (!request.page.empty() && !request.force && replaces_file(request.page))
    fail_as(ErrorKind::file, request.page, ": exists; --force replaces it");
  const TapeDiff diff = [&] {
    const ShownWork shown;
    return compare_tapes(request.a, request.b, request.runs, request.options,
                         [&request](const std::string& folder, int64_t step) {
                           return repeat_step(folder, step, request.trust);
                         });
  }();
  if (!request.page.empty()) write_file(request.page, tape_diff_page(diff));
  if (request.json)
    std::cout << json_text(difference_json(diff), 2) << "\n";
  else
    print_difference(diff, request);
  return diff.equal() ? 0 : int(Outcome::error);
}

}  // namespace

Action add_tape(Program& program) {
  const auto request = std::make_shared<TapeRequest>();
  CLI::App& tape = add_command(program, "tape", "compare recorded tapes");
  CLI::App& diff = add_command(tape, "diff", "what differs between two tapes, causes first: A B");
  const char* const about =
      "a file of lg.tape(x):json(), a run (its folder, or the beginning or end of its name), or RUN:STEP; a "
      "step whose tape was not kept is repeated";
  add_argument(diff, "A", request->a, about);
  add_argument(diff, "B", request->b, about);
  add_option(diff, "--in", request->runs, "the folder of runs");
  const std::pair<double, double> range{0, std::numeric_limits<double>::max()};
  add_option(diff, "--rtol", request->options.rtol, range,
             "values may differ by this part of their largest magnitude (default 0)");
  add_option(diff, "--atol", request->options.atol, range, "and by this much (default 0)");
  add_flag(diff, "--structure", request->options.structure, "leave values out");
  add_flag(diff, "--all", request->all, "list every difference, not the first 20");
  add_flag(diff, "--time", request->times, "also the nodes whose times differ most");
  add_flag(diff, "--json", request->json, "one JSON object");
  add_option(diff, "--html", request->page, "also writes one page for a browser, which needs no network",
             "FILE");
  add_flag(diff, "--force", request->force, "replace an existing page");
  add_trust_flags(diff, request->trust);
  set_footer(diff, "Exit code 1 when the tapes differ, 6 when one is missing or damaged.");
  return [=] { return carry_out("tape diff", [&] { return compare(*request); }); };
}

}  // namespace lunagrad
