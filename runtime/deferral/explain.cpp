#include "runtime/deferral/explain.h"

#include <algorithm>

#include "runtime/figures.h"

namespace lunagrad {
namespace {

std::string plural(size_t count, const char* noun) { return text(count, ' ', noun, count == 1 ? "" : "s"); }

// "model.lua:12-15", or both places if they are in two files.
std::string span_of(SourceLine first, SourceLine last) {
  if (!first.known() || first == last) return to_string(first);
  if (first.file == last.file)
    return text(to_string({first.file, std::min(first.line, last.line)}), '-',
                std::max(first.line, last.line));
  return to_string(first) + " … " + to_string(last);
}

const char* shown_name(const Op& op) { return op.name + (op.hidden() ? 1 : 0); }

}  // namespace

std::string explain(const QueueReport& report) {
  if (report.calls.empty()) return "No call was put off.\n";
  std::string groups, alone;
  size_t group_count = 0, grouped = 0;
  const std::vector<QueueReport::Done>& calls = report.calls;
  for (size_t begin = 0, end; begin < calls.size(); begin = end) {
    for (end = begin + 1; end < calls.size() && calls[end].unit == calls[begin].unit; ++end) continue;
    if (end - begin == 1) {
      alone += text("  ", shown_name(*calls[begin].op), "  ", to_string(calls[begin].line), "  ",
                    calls[begin].why, '\n');
      continue;
    }
    ++group_count;
    grouped += end - begin;
    uint64_t saved = 0;
    std::string names;
    for (size_t i = begin; i < end; ++i) {
      if (!calls[i].stored) saved += calls[i].bytes;
      names += text(' ', shown_name(*calls[i].op));
    }
    groups += text("  group ", group_count, ':', names, "  ", span_of(calls[begin].line, calls[end - 1].line),
                   "  ", bytes_figure(double(saved)), " stay in the caches\n");
  }
  std::string result = plural(calls.size(), "call");
  if (group_count == 0)
    result += ", each computed alone";
  else
    result += text(": ", plural(group_count, "group"), " of ", grouped, ", ", calls.size() - grouped,
                   " alone; ", bytes_figure(double(report.bytes_saved)), " were not written to memory");
  if (report.dropped)
    result += text("; ", plural(report.dropped, "call"), " whose results nobody reads did not run");
  result += ".\n" + groups;
  if (!alone.empty()) result += "Computed alone:\n" + alone;
  return result;
}

}  // namespace lunagrad
