// `lunagrad runs`: lists, shows, compares, exports and removes run folders.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/quoting.h"
#include "runtime/io/temporary_folder.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/table.h"
#include "script/cli/command/all.h"
#include "script/cli/history/check_runs.h"
#include "script/report/export.h"
#include "script/run/bundle.h"
#include "script/run/diff.h"
#include "script/run/folder.h"
#include "script/run/notes.h"
#include "script/run/record.h"
#include "script/view/run.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

struct RunsRequest {
  std::string folder = "runs";
  std::vector<std::string> runs;
  std::string output;
  bool json = false;
  bool repair = false;                // check
  bool yes = false;                   // rm, prune: do not ask
  bool force = false;                 // export: overwrite an existing report
  bool failed = false;                // prune: runs that failed
  std::optional<int64_t> keep;        // prune: how many of the newest runs stay
  std::optional<int64_t> older_than;  // prune: days
};

std::string outcome_of(const RunRecord& run) { return run.outcome.empty() ? "unfinished" : run.outcome; }

// A sparkline: the mean of each of `columns` equal parts, scaled from minimum to maximum.
std::string sparkline(const std::vector<MetricPoint>& points, size_t columns) {
  static const char* const kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  columns = std::min(columns, points.size());
  std::vector<double> means;
  for (size_t i = 0; i < columns; ++i) {
    double sum = 0;
    size_t count = 0;
    for (size_t k = i * points.size() / columns; k < (i + 1) * points.size() / columns; ++k) {
      if (!std::isfinite(points[k].value)) continue;
      sum += points[k].value;
      ++count;
    }
    means.push_back(count ? sum / double(count) : NAN);
  }
  double low = INFINITY, high = -INFINITY;
  for (const double mean : means)
    if (!std::isnan(mean)) low = std::min(low, mean), high = std::max(high, mean);
  std::string line;
  for (const double mean : means)
    line +=
        std::isnan(mean) ? "×" : kBars[high > low ? int(std::min(7.0, (mean - low) / (high - low) * 8)) : 0];
  return line;
}

Json summary(const RunRecord& run) {
  Json metrics = Json::object();
  for (const auto& [name, points] : run.metrics) {
    if (points.empty()) continue;
    const double last = points.back().value;
    metrics[name] = std::isfinite(last) ? Json(last) : Json(number_figure(last));
  }
  Json params = Json::object();
  for (const auto& [name, value] : run.params) params[name] = value;
  Json facts = {{"name", path_text(run.name)},
                {"folder", path_text(run.folder)},
                {"script", path_text(run.script)},
                {"started", run.started},
                {"outcome", outcome_of(run)},
                {"steps", run.steps},
                {"seconds", run.seconds},
                {"seed", run.seed},
                {"device", run.device},
                {"params", params},
                {"metrics", metrics}};
  if (!run.parent.empty()) {
    facts["parent"] = path_text(run.parent);
    facts["parent_step"] = run.parent_step;
  }
  return facts;
}

// "of RUN, step 40"; "" when the run was not forked.
std::string parent_of(const RunRecord& run) {
  return run.parent.empty() ? std::string()
                            : text("of ", name_of_folder(run.parent), ", step ", run.parent_step);
}

// Reports on stderr which parts of a run could not be read.
void warn_of_damage(const RunRecord& run) {
  if (const std::string damage = damage_of(run); !damage.empty())
    std::cerr << "lunagrad runs: " << damage << "; runs check says what is damaged\n";
}

RunRecord read_or_warn(const std::string& folder) {
  RunRecord run = read_run(folder);
  warn_of_damage(run);
  return run;
}

// Calls `with` for each readable run below the folder, one at a time in memory; the others are named on
// stderr.
void for_each_run(const std::string& folder, const std::function<void(const RunRecord&)>& with) {
  for (const std::string& found : find_runs(folder)) {
    RunRecord run;
    try {
      run = read_or_warn(found);
    } catch (const Error& error) {
      std::cerr << "lunagrad runs: " << error.what() << "\n";
      continue;
    }
    with(run);
  }
}

int list(const RunsRequest& request) {
  std::vector<std::vector<std::string>> rows{{"run", "outcome", "steps", "time", "last values", "fork"}};
  bool forks = false;
  for_each_run(request.folder, [&](const RunRecord& run) {
    if (request.json) {
      std::cout << summary(run).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
      return;
    }
    std::string values;
    for (const auto& [name, points] : run.metrics)
      if (!points.empty())
        values += (values.empty() ? "" : ", ") + name + " " + number_figure(points.back().value);
    const std::string steps = std::to_string(run.steps);
    rows.push_back({run.name, outcome_of(run),
                    run.steps_total > 0 ? steps + "/" + std::to_string(run.steps_total) : steps,
                    run_time_figure(run.seconds), values, parent_of(run)});
    forks |= !run.parent.empty();
  });
  if (!forks)
    for (std::vector<std::string>& row : rows) row.pop_back();
  if (request.json) return 0;
  if (rows.size() == 1) {
    std::cerr << "lunagrad runs: there are no runs in " << request.folder << "/\n";
    return 0;
  }
  print_table(rows);
  return 0;
}

// The count, if above one, before the latest item.
std::string times(const std::vector<LoggedItem>& items) {
  return items.size() == 1 ? "" : std::to_string(items.size()) + " times, last ";
}

// The parts of a model that lg.run.watch measured, with the latest value of each number.
void print_watched(const RunRecord& run) {
  std::set<std::string> names;
  for (const auto& [part, numbers] : run.watched)
    for (const auto& [name, value] : numbers) names.insert(name);
  if (names.empty()) return;
  std::vector<std::vector<std::string>> rows{{"watched"}};
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  for (const auto& [part, numbers] : run.watched) {
    rows.push_back({part});
    for (const std::string& name : names) {
      const auto found = numbers.find(name);
      rows.back().push_back(found == numbers.end() ? "" : number_figure(found->second.value));
    }
  }
  std::cout << "\n";
  print_table(rows);
}

int show(const RunsRequest& request) {
  const std::string& asked = request.runs[0];
  std::optional<TemporaryFolder> unpacked;
  if (is_bundle(asked)) unpack_run(asked, unpacked.emplace().path());
  RunRecord run = read_or_warn(unpacked ? unpacked->path() + "/run" : find_run(asked, request.folder));
  if (unpacked) run.name = asked;
  if (request.json) {
    std::cout << summary(run).dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return 0;
  }
  std::vector<std::vector<std::string>> facts{{"run", unpacked ? asked : run.folder},
                                              {"script", run.script},
                                              {"started", run.started},
                                              {"outcome", outcome_of(run)},
                                              {"steps", std::to_string(run.steps)},
                                              {"time", run_time_figure(run.seconds)},
                                              {"seed", run.seed},
                                              {"device", run.device}};
  if (!run.git_commit.empty()) facts.push_back({"commit", run.git_commit});
  if (run.sandbox)
    facts.push_back({"sandbox", run.unguarded.empty() ? "yes" : "without all limits of the kernel"});
  for (const std::string& wall : run.unguarded) facts.push_back({"not limited", wall});
  if (!run.parent.empty()) facts.push_back({"fork", text("of ", run.parent, ", step ", run.parent_step)});
  for (const auto& [name, value] : run.params) facts.push_back({"param " + name, value});
  for (const auto& [name, rows] : run.text_rows) facts.push_back({"text " + name, latest_text(run, name)});
  const RunNotes notes = read_notes(run.folder);
  if (notes.starred) facts.push_back({"starred", "yes"});
  if (!notes.note.empty()) facts.push_back({"note", notes.note});
  if (const std::string checkpoint = latest_checkpoint(run.folder); !checkpoint.empty())
    facts.push_back({"checkpoint", checkpoint});
  for (const auto& [name, items] : run.images)
    facts.push_back({"image " + name, items.empty() ? "" : times(items) + items.back().what});
  for (const auto& [name, items] : run.histograms)
    if (!run.watched.count(name.substr(name.find('/') + 1)) && !items.empty())
      facts.push_back({"histogram " + name, times(items) + items.back().what});
  print_table(facts);
  print_watched(run);
  if (run.metrics.empty()) return 0;
  std::cout << "\n";
  std::vector<std::vector<std::string>> rows{{"metric", "last", "lowest", "highest", "rows", ""}};
  for (const auto& [name, points] : run.metrics) {
    if (points.empty()) continue;
    const auto lower = [](const MetricPoint& a, const MetricPoint& b) { return a.value < b.value; };
    std::vector<MetricPoint> finite;
    std::copy_if(points.begin(), points.end(), std::back_inserter(finite),
                 [](const MetricPoint& p) { return std::isfinite(p.value); });
    const auto extremes = std::minmax_element(finite.begin(), finite.end(), lower);
    const auto extreme = [&](auto at) {
      return finite.empty() ? "none finite" : number_figure(at->value) + " @ " + std::to_string(at->step);
    };
    rows.push_back({name, number_figure(points.back().value), extreme(extremes.first),
                    extreme(extremes.second), std::to_string(points.size()), sparkline(points, 40)});
  }
  print_table(rows);
  return 0;
}

std::string read_all(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

int diff(const RunsRequest& request) {
  const RunRecord a = read_or_warn(find_run(request.runs[0], request.folder)),
                  b = read_or_warn(find_run(request.runs[1], request.folder));
  std::vector<std::vector<std::string>> rows{{"", a.name, b.name}};
  bool differs = false;
  const auto compare = [&](const std::string& what, const std::string& left, const std::string& right) {
    if (left == right) return;
    differs = true;
    rows.push_back({what, left.empty() ? "-" : left, right.empty() ? "-" : right});
  };
  for (const ConfigDifference& difference : config_differences(a, b))
    compare(difference.what, difference.left, difference.right);
  std::set<std::string> names;
  if (read_all(a.folder + "/script.lua") != read_all(b.folder + "/script.lua")) {
    differs = true;
    rows.push_back({"script.lua", a.folder + "/script.lua", b.folder + "/script.lua"});
  }
  compare("outcome", outcome_of(a), outcome_of(b));
  compare("steps", std::to_string(a.steps), std::to_string(b.steps));
  for (const auto& [name, points] : a.metrics) names.insert(name);
  for (const auto& [name, points] : b.metrics) names.insert(name);
  // The first step at which the two runs have different numbers. A fork has no numbers before its first own
  // step.
  const int64_t first = std::max(a.parent_step, b.parent_step) + 1;
  const auto rows_of = [first](const std::vector<MetricPoint>& points) {
    return std::span(std::find_if(points.begin(), points.end(),
                                  [first](const MetricPoint& point) { return point.step >= first; }),
                     points.end());
  };
  for (const std::string& name : names) {
    const auto left = a.metrics.find(name), right = b.metrics.find(name);
    const auto last = [](const auto& found, const auto& all) {
      return found == all.end() || found->second.empty() ? std::string()
                                                         : number_figure(found->second.back().value);
    };
    std::string note;
    if (left != a.metrics.end() && right != b.metrics.end()) {
      const std::span<const MetricPoint> ours = rows_of(left->second), theirs = rows_of(right->second);
      const size_t common = std::min(ours.size(), theirs.size());
      for (size_t i = 0; i < common; ++i) {
        const MetricPoint &p = ours[i], &q = theirs[i];
        const bool same =
            p.step == q.step && (p.value == q.value || (std::isnan(p.value) && std::isnan(q.value)));
        if (same) continue;
        note = "differs from step " + std::to_string(p.step);
        break;
      }
      differs |= !note.empty() || ours.size() != theirs.size();
      if (note.empty())
        note = "the same for " + std::to_string(common) + " rows" +
               (first > 1 ? " from step " + std::to_string(first) : "");
    }
    differs |= (left == a.metrics.end()) != (right == b.metrics.end());
    rows.push_back({name, last(left, a.metrics), last(right, b.metrics), note});
  }
  print_table(rows);
  return differs ? int(Outcome::error) : 0;
}

// One line for each step that has a row, one column for each metric.
std::string as_csv(const RunRecord& run) {
  std::map<int64_t, std::map<std::string, double>> steps;
  std::map<int64_t, double> times;
  for (const auto& [name, points] : run.metrics)
    for (const MetricPoint& point : points) {
      steps[point.step][name] = point.value;
      times[point.step] = point.time;
    }
  std::string csv = "step,time";
  for (const auto& [name, points] : run.metrics) csv += "," + csv_field(name);
  csv += "\n";
  char number[40];
  for (const auto& [step, values] : steps) {
    std::snprintf(number, sizeof number, "%lld,%.6f", static_cast<long long>(step), times[step]);
    csv += number;
    for (const auto& [name, points] : run.metrics) {
      csv += ",";
      if (const auto found = values.find(name); found != values.end()) {
        csv += number_figure(found->second, 9);
      }
    }
    csv += "\n";
  }
  return csv;
}

bool asks_yes(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string reply;
  std::getline(std::cin, reply);
  return reply == "y" || reply == "Y" || reply == "yes";
}

bool on_terminal() { return isatty(STDIN_FILENO) && isatty(STDERR_FILENO); }

// Writes the runs as one HTML page.
int export_page(const RunsRequest& request) {
  std::vector<std::string> folders;
  for (const std::string& asked : request.runs) folders.push_back(find_run(asked, request.folder));
  if (!request.force && replaces_file(request.output)) {
    if (!on_terminal()) fail_as(ErrorKind::file, request.output, ": exists; --force replaces it");
    if (!asks_yes("replace " + request.output + "?")) {
      std::cerr << "nothing was written\n";
      return int(Outcome::error);
    }
  }
  export_report(folders, request.output);
  return 0;
}

// Writes a page, or metrics.csv and the images into a folder: an existing folder, or a name that ends in '/'.
int export_run(const RunsRequest& request) {
  const std::string kind = fs::path(request.output).extension().string();
  if (kind == ".html" || kind == ".htm") return export_page(request);
  if (request.runs.size() > 1) {
    std::cerr << "lunagrad runs export: several runs go into one page, -o NAME.html\n";
    return int(Outcome::usage);
  }
  const RunRecord run = read_or_warn(find_run(request.runs[0], request.folder));
  const std::string csv = as_csv(run);
  const bool folder =
      request.output.ends_with('/') || (!request.output.empty() && fs::is_directory(request.output));
  if (folder) {
    std::error_code error;
    fs::create_directories(fs::path(request.output) / "images", error);
    for (const auto& [name, items] : run.images)
      for (const LoggedItem& item : items) {
        const fs::path file = fs::path("images") / fs::path(item.what).filename();
        if (!error) write_file((request.output / file).string(), read_file((run.folder / file).string()));
      }
    if (error) fail_as(ErrorKind::file, request.output, ": ", error.message());
    write_file(fs::path(request.output) / "metrics.csv", csv);
    return 0;
  }
  if (request.output.empty() || request.output == "-") {
    std::cout << csv;
  } else {
    write_file(request.output, csv);
  }
  if (!run.images.empty()) std::cerr << "lunagrad runs: images are left out; -o FOLDER/ takes them along\n";
  return 0;
}

// Removes the folders. On a terminal it asks first, unless --yes was given.
int remove_all(const RunsRequest& request, const std::vector<std::string>& folders) {
  if (!request.yes && !folders.empty() && on_terminal()) {
    for (const std::string& folder : folders) std::cerr << "  " << folder << "\n";
    const std::string runs = folders.size() == 1 ? "this run" : std::to_string(folders.size()) + " runs";
    if (!asks_yes("remove " + runs + " with all files?")) {
      std::cerr << "nothing was removed\n";
      return int(Outcome::error);
    }
  }
  for (const std::string& folder : folders) {
    remove_run(folder);
    std::cout << "removed " << folder << "\n";
  }
  return 0;
}

int remove(const RunsRequest& request) {
  // Looks up all runs first, so that a wrong name removes nothing.
  std::vector<std::string> folders;
  for (const std::string& asked : request.runs) folders.push_back(find_run(asked, request.folder));
  return remove_all(request, folders);
}

// Days since the latest write to the run's metrics, or to its folder when it has no metrics.
double age_in_days(const std::string& folder) {
  std::error_code none;
  auto written = fs::last_write_time(folder + "/metrics.jsonl", none);
  if (none) written = fs::last_write_time(folder, none);
  const auto age = fs::file_time_type::clock::now() - written;
  return std::chrono::duration<double>(age).count() / 86400;
}

// Removes the runs that meet every given rule. Starred and running runs stay.
int prune(const RunsRequest& request) {
  if (!request.failed && !request.keep && !request.older_than) {
    std::cerr << "lunagrad runs prune: --failed, --keep N or --older-than DAYS says which runs go\n";
    return int(Outcome::usage);
  }
  struct Known {
    std::string folder;
    double age;
    bool failed;
  };
  // a run without an outcome that wrote within this time is still running
  constexpr double kWritesNow = 60.0 / 86400;
  std::vector<Known> runs;
  for_each_run(request.folder, [&](const RunRecord& run) {
    const double age = age_in_days(run.folder);
    if (run.outcome.empty() && age < kWritesNow) return;
    if (read_notes(run.folder).starred) return;
    runs.push_back({run.folder, age, run.outcome != "ok" && run.outcome != "stopped"});
  });
  std::stable_sort(runs.begin(), runs.end(), [](const Known& a, const Known& b) { return a.age < b.age; });
  std::vector<std::string> gone;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (request.failed && !runs[i].failed) continue;
    if (request.keep && int64_t(i) < *request.keep) continue;
    if (request.older_than && runs[i].age < double(*request.older_than)) continue;
    gone.push_back(runs[i].folder);
  }
  return remove_all(request, gone);
}

int check(const RunsRequest& request) { return check_runs(request.runs, request.folder, request.repair); }

}  // namespace

Action add_runs(Program& program) {
  const auto request = std::make_shared<RunsRequest>();
  CLI::App& runs = add_command(program, "runs", "list, show, compare, export, check and remove runs");
  add_option(runs, "--in", request->folder, "the folder of runs");
  struct Command {
    CLI::App* app;
    int (*run)(const RunsRequest&);
  };
  const auto add = [&](const char* name, const char* about, int (*run)(const RunsRequest&)) {
    return Command{&add_command(runs, name, about), run};
  };
  const Command ls = add("ls", "one line per run", list),
                shown = add("show", "one run: facts and curves", show),
                compared = add("diff", "compare two runs", diff),
                exported = add("export", "runs as an HTML page, or a run's metrics as CSV", export_run),
                removed = add("rm", "remove runs with all their files", remove),
                checked = add("check", "read every file of runs, sweeps and bundles", check),
                pruned = add("prune", "remove the runs that meet all given rules; starred ones stay", prune);
  add_flag(*ls.app, "--json", request->json, "one JSON object per line");
  add_flag(*shown.app, "--json", request->json, "one JSON object");
  add_option(*exported.app, "-o,--output", request->output,
             "NAME.html: a page with everything; another file: CSV (default: on standard output); FOLDER/: "
             "metrics.csv and images");
  add_flag(*exported.app, "--force", request->force, "replace an existing page");
  for (const Command& command : {removed, pruned})
    add_flag(*command.app, "-y,--yes", request->yes, "do not ask on a terminal");
  add_flag(*pruned.app, "--failed", request->failed, "runs that ended with an error, or never ended");
  add_option(*pruned.app, "--keep", request->keep, "all but the newest N");
  add_option(*pruned.app, "--older-than", request->older_than, "days since the run last wrote");
  add_flag(*checked.app, "--repair", request->repair,
           "move damaged lines and files into the folder damaged/ beside them, so that the rest can be used");
  set_footer(*checked.app, "Exit code 6 when something is damaged and not repaired.");
  set_footer(*compared.app, "Exit code 1 when the runs differ.");
  const auto take_runs = [&](const Command& command, int count) {
    add_required_arguments(*command.app, "RUN", request->runs,
                           "a run's folder, or the beginning or end of its name", count);
  };
  take_runs(shown, 1);
  take_runs(compared, 2);
  take_runs(exported, 0);
  take_runs(removed, 0);
  add_arguments(*checked.app, "RUN", request->runs,
                "runs, sweeps, bundles or folders of runs (default: all runs, and the sweeps beside them)");
  return [=, commands = std::array{ls, shown, compared, exported, removed, checked, pruned}] {
    for (const Command& command : commands) {
      if (is_chosen(*command.app)) return carry_out("runs", [&] { return command.run(*request); });
    }
    return int(Outcome::usage);
  };
}

}  // namespace lunagrad
