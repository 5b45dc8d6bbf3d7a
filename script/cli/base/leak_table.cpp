#include "script/cli/base/leak_table.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "script/cli/base/table.h"
#include "script/run/json.h"

namespace lunagrad {
namespace {

constexpr const char* kNoSteps =
    "leaks: no step has ended; --leaks looks at the ends of steps, of lg.run.steps or of an optimizer\n";

std::string place_text(const SourcePlace& place) {
  return place.line > 0 ? text(place.file, ':', place.line) : "-";
}

std::string holding(const Leak& leak) {
  std::string holds = text(count_figure(leak.count), ' ', leak_name(leak.what));
  if (leak.count == 1) holds.pop_back();
  if (leak.nodes > 0) holds += text(", ", count_figure(leak.nodes), leak.nodes == 1 ? " node" : " nodes");
  return holds + ", " + bytes_figure(double(leak.bytes));
}

}  // namespace

std::string leak_table(const LeakReport* report) {
  if (!report) return kNoSteps;
  const std::string looked =
      text(" (looked at the end of ", count_figure(report->looks), " of ", count_figure(report->steps),
           " steps", report->complete ? "" : ", and not at all objects: the script holds too many", ")\n");
  const size_t count = report->leaks.size();
  if (count == 0) return "leaks: none" + looked;
  std::vector<std::vector<std::string>> rows{{"owner", "at", "holds", "since step", "a step", "made at"}};
  std::string advice;
  for (const Leak& leak : report->leaks) {
    char growth[32];
    std::snprintf(growth, sizeof growth, "%.2g", leak.per_step);
    rows.push_back({leak.owner, place_text(leak.place), holding(leak), count_figure(leak.since), growth,
                    place_text(leak.made)});
    advice += "  " + leak.path + ": " + leak.advice + "\n";
  }
  return text("leaks: ", count, count == 1 ? " owner holds" : " owners hold",
              " what outlived the step that made it", looked, table_text(rows), "what to write instead:\n",
              advice);
}

std::string leak_lines(const LeakReport* report) {
  std::string lines;
  if (report)
    for (const Leak& leak : report->leaks)
      lines += json_text({{"event", "leak"},
                          {"owner", leak.owner},
                          {"path", leak.path},
                          {"file", leak.place.file},
                          {"line", leak.place.line},
                          {"holds", leak_name(leak.what)},
                          {"count", leak.count},
                          {"nodes", leak.nodes},
                          {"bytes", leak.bytes},
                          {"since", leak.since},
                          {"step", leak.step},
                          {"per_step", leak.per_step},
                          {"made_file", leak.made.file},
                          {"made_line", leak.made.line},
                          {"advice", leak.advice}}) +
               "\n";
  return lines +
         json_text({{"event", "leaks"},
                    {"count", report ? report->leaks.size() : 0},
                    {"steps", report ? report->steps : 0},
                    {"looks", report ? report->looks : 0},
                    {"complete", !report || report->complete}}) +
         "\n";
}

}  // namespace lunagrad
