#include "ui/panels/profile/groups.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/core/figures.h"
#include "runtime/core/op_name.h"
#include "ui/base/counted.h"
#include "ui/tape/groups.h"
#include "ui/tape/op_family.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"
#include "ui/workbench/links.h"

namespace lunagrad {
namespace {

using Key = std::tuple<std::string, std::string, int, bool>;  // op, file, line, backward

// The time of a call, by op and place: its mean within a step, in the step where that is smallest, which
// excludes the effect of other programs.
std::map<Key, double> times_of(std::span<const std::shared_ptr<const StepProfile>> steps) {
  std::map<Key, double> least;
  for (const auto& step : steps) {
    std::map<Key, std::pair<double, int64_t>> sums;
    for (const ProfileSpan& span : step->spans) {
      auto& [ns, calls] = sums[{step->names[span.op], span.place.file, span.place.line,
                                span.phase == ProfilePhase::backward}];
      ns += span.length_ns;
      ++calls;
    }
    for (const auto& [key, sum] : sums) {
      const auto [known, fresh] = least.try_emplace(key, sum.first / double(sum.second));
      if (!fresh) known->second = std::min(known->second, sum.first / double(sum.second));
    }
  }
  return least;
}

// The sum of the members' times when each runs alone; 0 if one of them was not measured.
double time_alone(const PlannedRow& row, const std::map<Key, double>& times) {
  double sum = 0;
  for (const PlannedCall& call : row.members) {
    const auto found = times.find({call.op, call.place.file, call.place.line, call.backward});
    if (found == times.end()) return 0;
    sum += found->second;
  }
  return sum * double(row.times);
}

// "train.lua:12-15"
std::string lines_of(const PlannedRow& row) {
  int low = row.members[0].place.line, high = low;
  const std::string& file = row.members[0].place.file;
  bool others = false;
  for (const PlannedCall& call : row.members) {
    others |= call.place.file != file;
    if (call.place.file != file) continue;
    low = std::min(low, call.place.line);
    high = std::max(high, call.place.line);
  }
  if (low <= 0) return "–";
  std::string text = file_name(file) + ":" + std::to_string(low);
  if (high > low) text += "-" + std::to_string(high);
  return others ? text + ", …" : text;
}

std::string figure_or_dash(double ns) { return ns > 0 ? duration_figure(ns) : "–"; }

std::string shown_name(const PlannedCall& call) {
  const std::string name = public_op_name(call.op);
  return call.backward ? name + ", backward" : name;
}

constexpr auto kTable = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                        ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoSavedSettings;

struct Heading {
  const char *name, *help;
};

// Where space is short, only the tooltips show lines and numbers of calls.
bool is_roomy() { return ImGui::GetContentRegionAvail().x >= em(40); }
std::vector<size_t> columns(bool roomy) {
  return roomy ? std::vector<size_t>{0, 1, 2, 3, 4, 5} : std::vector<size_t>{0, 3, 4, 5};
}

// `wide`: the column that takes the remaining width.
void draw_headings(Workbench& bench, std::span<const Heading> headings, const std::vector<size_t>& shown,
                   size_t wide) {
  for (const size_t i : shown)
    ImGui::TableSetupColumn(headings[i].name, i == wide ? ImGuiTableColumnFlags_WidthStretch : 0);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const size_t i : shown) {
    ImGui::TableNextColumn();
    ImGui::TableHeader(headings[i].name);
    bench.description().add_last("profiler.heading", headings[i].name);
    explain(headings[i].help);
  }
}

void cell(const std::string& text, bool strong = true) {
  if (ImGui::TableNextColumn()) text_in(strong ? theme().text : theme().muted, "%s", text.c_str());
}

}  // namespace

void GroupsView::draw(Workbench& bench, const std::shared_ptr<const StepPlan>& plan,
                      std::span<const std::shared_ptr<const StepProfile>> steps) {
  if (!plan)
    return draw_empty(
        "No step was deferred yet",
        "Steps of lg.run.steps that no panel looks into may wait to be planned: from the second on, "
        "where that saves time.");
  if (plan_ != plan || steps_ != steps.size() || (!steps.empty() && latest_ != steps.back())) {
    plan_ = plan;
    steps_ = steps.size();
    latest_ = steps.empty() ? nullptr : steps.back();
    const std::map<Key, double> times = times_of(steps);
    alone_ns_.clear();
    for (const PlannedRow& row : plan_->groups) alone_ns_.push_back(time_alone(row, times));
  }
  ImGui::BeginChild("groups");
  const std::string summary = plan_summary(*plan_);
  ImGui::PushTextWrapPos(0);
  text_in(theme().text, "%s.", summary.c_str());
  bench.description().add_last("profiler.plan", summary);
  double together = 0, alone = 0;
  for (size_t i = 0; i < alone_ns_.size(); ++i)
    if (plan_->groups[i].ns > 0 && alone_ns_[i] > 0) {
      together += plan_->groups[i].ns;
      alone += alone_ns_[i];
    }
  std::string gain;
  if (together > 0)
    gain = "At best, the groups take " + duration_figure(together) + ", the same calls one by one " +
           duration_figure(alone) + ". ";
  gain += plan_origin(*plan_);
  if (plan_->dropped > 0)
    gain += " " + counted(plan_->dropped, "more call") + " did not run: nobody reads the results.";
  text_in(theme().muted, "%s", gain.c_str());
  bench.description().add_last("profiler.gain", gain);
  ImGui::PopTextWrapPos();
  if (!plan_->groups.empty()) draw_groups(bench);
  if (!plan_->alone.empty()) draw_alone(bench);
  ImGui::EndChild();
}

void GroupsView::draw_groups(Workbench& bench) const {
  constexpr Heading headings[] = {
      {"group", "The members, in the order in which they run."},
      {"lines", "Where the script calls them. Click a row to go to the first."},
      {"calls", "Members, and how many groups do the same."},
      {"together", "Time of the groups, the least of several steps."},
      {"one by one",
       "Time of the same calls in measured steps, which compute each alone; the least of several."},
      {"not written", "Bytes of results that never leave the caches."}};
  const bool roomy = is_roomy();
  const std::vector<size_t> shown = columns(roomy);
  if (!ImGui::BeginTable(roomy ? "groups roomy" : "groups", int(shown.size()), kTable)) return;
  draw_headings(bench, headings, shown, 0);
  for (size_t i = 0; i < plan_->groups.size(); ++i) {
    const PlannedRow& row = plan_->groups[i];
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushID(int(i));
    const std::string name = group_name(row);
    const bool clicked = ImGui::Selectable(name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns);
    bench.description().add_last("profiler.group", name);
    if (ImGui::IsItemHovered()) draw_tip(row, alone_ns_[i]);
    ImGui::PopID();
    if (roomy) {
      cell(lines_of(row), false);
      cell(std::to_string(row.members.size()) + (row.times > 1 ? " x " + count_figure(row.times) : ""),
           false);
    }
    cell(figure_or_dash(row.ns));
    cell(figure_or_dash(alone_ns_[i]), false);
    cell(row.bytes > 0 ? bytes_figure(row.bytes) : "–");
    if (clicked) go_to_line(bench, row.members[0].place);
  }
  ImGui::EndTable();
}

void GroupsView::draw_alone(Workbench& bench) const {
  constexpr Heading headings[] = {{"computed alone", "Calls that are no members of a group."},
                                  {"line", "Where the script calls it. Click a row to go there."},
                                  {"calls", "How many calls do the same."},
                                  {"time", "Time of these calls, the least of several steps."},
                                  {"written", "Bytes of their results."},
                                  {"why", "What keeps it from joining a group."}};
  ImGui::Dummy({1, em(0.3f)});
  const bool roomy = is_roomy();
  const std::vector<size_t> shown = columns(roomy);
  if (!ImGui::BeginTable(roomy ? "alone roomy" : "alone", int(shown.size()), kTable)) return;
  draw_headings(bench, headings, shown, 5);
  ImGuiListClipper clipper;
  clipper.Begin(int(plan_->alone.size()));
  while (clipper.Step())
    for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r) {
      const PlannedRow& row = plan_->alone[size_t(r)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(r);
      const std::string name = shown_name(row.members[0]);
      ImGui::PushStyleColor(ImGuiCol_Text, theme().family[size_t(op_family(row.members[0].op))]);
      const bool clicked = ImGui::Selectable(name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns);
      ImGui::PopStyleColor();
      bench.description().add_last("profiler.alone", name + ": " + row.why);
      explain((name + ", " + lines_of(row) + ", " + counted(row.times, "call") + ": " + row.why).c_str());
      ImGui::PopID();
      if (roomy) {
        cell(lines_of(row), false);
        cell(count_figure(row.times), false);
      }
      cell(figure_or_dash(row.ns));
      cell(bytes_figure(row.bytes), false);
      cell(row.why, false);
      if (clicked) go_to_line(bench, row.members[0].place);
    }
  ImGui::EndTable();
}

void GroupsView::draw_tip(const PlannedRow& row, double alone_ns) const {
  begin_tip(last_item_subject(), group_name(row));
  ImGui::PushTextWrapPos(em(34));
  bold_text("group of " + std::to_string(row.members.size()) +
            (row.times > 1 ? ", " + count_figure(row.times) + " times" : ""));
  for (const PlannedCall& call : row.members) {
    const std::string file = file_name(call.place.file);
    ImGui::Text("%s  %s:%d", shown_name(call).c_str(), file.c_str(), call.place.line);
    if (!call.stored) {
      ImGui::SameLine();
      text_in(theme().muted, "not written");
    }
  }
  text_in(theme().muted, "Kernel: %s",
          plan_->device == "cpu" ? "blocks of 1,024 elements pass through the kernels of all members."
                                 : "one shader, compiled for this group while its members run one by one.");
  if (row.ns > 0 && alone_ns > 0)
    text_in(theme().muted, "Together %s, one by one %s.", duration_figure(row.ns).c_str(),
            duration_figure(alone_ns).c_str());
  ImGui::PopTextWrapPos();
  end_tip();
}

}  // namespace lunagrad
