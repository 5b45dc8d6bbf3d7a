#include "runtime/deferral/explain.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

constexpr size_t kMostRows = 20;  // of a table; the others are summed in one line

const char* name_without_underscores(const Op& op) { return op.name + std::strspn(op.name, "_"); }

std::string plural(size_t count, const char* noun) {
  return count_figure(int64_t(count)) + " " + noun + (count == 1 ? "" : "s");
}

// "model.lua:12", the file name without folders.
std::string brief(SourceLine line) {
  const std::string place = to_string(line);
  return place.substr(place.find_last_of('/') + 1);
}

// "model.lua:12 mul add, :13 tanh, backward: model.lua:12 mul"
std::string names_of(const PlanRow& row) {
  std::string text;
  const QueueReport::Done* last = nullptr;
  for (const QueueReport::Done* const call : row.members) {
    const bool turns = call->backward != (last && last->backward);
    if (turns || !last || !(call->line == last->line)) {
      if (last) text += ", ";
      if (turns) text += call->backward ? "backward: " : "forward: ";
      const bool same_file = last && !turns && call->line.file == last->line.file && call->line.known();
      text += same_file ? ":" + std::to_string(call->line.line) : brief(call->line);
      if (call->line.known()) text += ' ';
    } else {
      text += ' ';
    }
    text += name_without_underscores(*call->op);
    last = call;
  }
  return text;
}

// A table line: a size in bytes, a count, and words.
std::string line_of(uint64_t bytes, size_t times, const std::string& words) {
  std::string size = bytes_figure(double(bytes)), count;
  if (times > 1) count = count_figure(int64_t(times)) + "x";
  size.insert(0, size.size() < 12 ? 12 - size.size() : 0, ' ');
  count.insert(0, count.size() < 7 ? 7 - count.size() : 0, ' ');
  return size + count + "  " + words + '\n';
}

std::string table(const std::vector<const PlanRow*>& rows) {
  std::string text;
  const size_t shown = rows.size() > kMostRows + 1 ? kMostRows : rows.size();
  for (size_t i = 0; i < shown; ++i)
    text += line_of(rows[i]->bytes, rows[i]->units.size(), names_of(*rows[i]));
  if (shown == rows.size()) return text;
  uint64_t bytes = 0;
  size_t units = 0;
  for (size_t i = shown; i < rows.size(); ++i) {
    bytes += rows[i]->bytes;
    units += rows[i]->units.size();
  }
  return text + line_of(bytes, 1, "in " + plural(units, "more"));
}

// A table per reason, of the calls that were computed alone.
std::string reasons_of(const std::vector<PlanRow>& rows) {
  struct Reason {
    const char* why;
    uint64_t bytes = 0;
    size_t calls = 0;
    std::vector<const PlanRow*> rows;
  };
  std::vector<Reason> reasons;
  for (const PlanRow& row : rows) {
    const char* const why = row.members[0]->why;
    auto reason = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& r) { return r.why == why; });
    if (reason == reasons.end()) reason = reasons.insert(reason, Reason{why, 0, 0, {}});
    reason->bytes += row.bytes;
    reason->calls += row.units.size();
    reason->rows.push_back(&row);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.bytes > b.bytes; });
  std::string text;
  for (const Reason& reason : reasons)
    text += lunagrad::text("Alone (", reason.why, "): ", plural(reason.calls, "call"), ", ",
                           bytes_figure(double(reason.bytes)), " of results\n", table(reason.rows));
  return text;
}

}  // namespace

std::string explain(const QueueReport& report) {
  if (report.calls.empty()) return "No call was deferred.\n";
  const PlanRows rows = rows_of(report);
  size_t groups = 0, grouped = 0;
  for (const PlanRow& row : rows.groups) {
    groups += row.units.size();
    grouped += row.units.size() * row.members.size();
  }
  const size_t alone = report.calls.size() - grouped;
  std::string result = text(plural(report.calls.size(), "call"), " in ", count_figure(report.units),
                            report.units == 1 ? " pass" : " passes", " over memory: ");
  if (groups == 0) {
    result += "each is computed alone.\n";
  } else {
    result += text(plural(grouped, "call"), " in ", plural(groups, "group"), ", ", alone, " alone. ",
                   bytes_figure(double(report.bytes_saved)),
                   " of results stay in the caches of their groups and are not written.\n");
  }
  if (report.dropped)
    result += text(plural(report.dropped, "more call"), " did not run: nobody reads ",
                   report.dropped == 1 ? "its result" : "their results", ".\n");
  if (groups > 0) {
    std::vector<const PlanRow*> list;
    for (const PlanRow& row : rows.groups) list.push_back(&row);
    result +=
        "Groups, by the bytes that are not written. Written is what the tape, a variable or garbage of the "
        "script "
        "refers to.\n" +
        table(list);
  }
  return result + reasons_of(rows.alone);
}

}  // namespace lunagrad
