#include "ui/panels/runs/run_source.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/runs/list.h"

namespace lunagrad {

void add_run_source(Workbench& bench) {
  bench.commands().add_source([&bench](std::string_view, std::vector<Command>& found) {
    const std::vector<RunSummary>& runs = bench.runs().runs();
    if (runs.empty()) bench.curves().look_around(bench.script());  // the panel may not have been shown yet
    for (const RunSummary& run : runs) {
      if (!run.problem.empty()) continue;
      const bool shown = bench.runs().shows(run.folder);
      const std::string name = short_run_name(run.name), script = file_name(run.script);
      Command command{"Run: " + name, "",
                      (shown ? "Hides its curves: " : "Shows its curves: ") + script + ", " + run.outcome +
                          ", step " + std::to_string(run.steps) + (run.note.empty() ? "" : ", " + run.note),
                      [&bench, folder = run.folder, shown] { bench.curves().show(folder, !shown); }};
      command.named_by_file = script == name + ".lua";
      command.synonyms = (command.named_by_file ? "" : run.name) + std::string(run.starred ? " starred" : "");
      found.push_back(std::move(command));
    }
  });
}

}  // namespace lunagrad
