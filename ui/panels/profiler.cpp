// Profiler: where the steps spend their time and memory, by operation, source line and module, on a timeline,
// and as a sum of parts.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/core/op_name.h"
#include "runtime/core/trace.h"
#include "runtime/io/atomic_file.h"
#include "ui/base/counted.h"
#include "ui/panels/profile/groups.h"
#include "ui/panels/profile/owners.h"
#include "ui/panels/profile/ranks.h"
#include "ui/panels/profile/tabs.h"
#include "ui/panels/profile/timeline.h"
#include "ui/tape/groups.h"
#include "ui/tape/op_family.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"
#include "ui/workbench/links.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr size_t kLastSteps = 8;

enum Scope { kLast, kFew, kAll };
constexpr const char* kScopes[] = {"last step", "last 8 steps", "since reset"};

constexpr const char* kPartHelp[] = {
    "weights: tensors at the ends of the tape, which want a gradient and were made by no operation",
    "optimizer: what its step reads and writes beside parameters and gradients",
    "gradients: what the weights hold in .grad",
    "saved: results of this step that the tape holds for backward",
    "held: what else stays the whole step long, as data sets and buffers",
    "temporary: the rest"};

enum Column { kName, kSelf, kShare, kDevice, kTotal, kForward, kBackward, kCalls, kBytes, kRate };

double value_of(const ProfileRow& row, int column) {
  switch (column) {
    case kSelf:
    case kShare:
      return row.self();
    case kDevice:
      return row.device_ns;
    case kTotal:
      return row.total_ns;
    case kForward:
      return row.self_ns[size_t(ProfilePhase::forward)] + row.self_ns[size_t(ProfilePhase::optimizer)];
    case kBackward:
      return row.self_ns[size_t(ProfilePhase::backward)];
    case kCalls:
      return double(row.calls);
    case kBytes:
      return row.bytes;
    case kRate:
      return row.flops_per_second();
    default:
      return 0;
  }
}

class ProfilerPanel final : public Panel {
 public:
  const char* title() const override { return "Profiler"; }
  Region region() const override { return Region::upper_right; }
  std::optional<PanelStep> shown_step(const Workbench&) const override {
    const bool of_one_step = scope_ != kAll && chosen_ != kOwners;
    if (!of_one_step || !view_ || view_->steps.empty()) return std::nullopt;
    return PanelStep{view_->steps.back()->step};
  }

  void add_commands(Workbench& bench) override {
    for (int view = 0; view < int(std::size(kProfilerTabs)); ++view)
      add_own_command(bench, kProfilerTabs[view], kProfilerTabHelp[view], [this, view] { chosen_ = view; });
    add_own_command(bench, "Find what outlives its step", kProfilerTabHelp[kOwners], [this, &bench] {
      chosen_ = kOwners;
      bench.owners().find();
    });
    add_own_command(bench, "Keep these figures", kFreezeHelp, [this] { frozen_ = !frozen_; });
    add_own_command(bench, "Reset", kResetHelp, [this, &bench] { reset(bench); });
    add_own_command(
        bench, "Export", kExportHelp, [this, &bench] { write_trace(bench); },
        [this] { return view_ != nullptr; });
  }

  void draw(Workbench& bench) override {
    bench.measurements().want_profile();
    take(bench);
    draw_bar(bench);
    if (chosen_ == kOwners) return owners_view_.draw(bench);
    if (!view_ || (chosen_ == kRanks && !ranks_)) {
      if (bench.journal().active())
        draw_empty("Measuring", bench.journal().state() == SessionState::paused
                                    ? "The next whole step appears here: Step (F8) or Continue (F5)."
                                    : "The next whole step appears here.");
      else
        draw_empty("Nothing measured",
                   "Steps are measured while this panel is shown and a script runs: their time by "
                   "operation, line and module, and their memory.");
      return;
    }
    if (chosen_ == kRanks)
      return ranks_view_.draw(bench, *ranks_, scope_ == kLast ? 1 : kLastSteps, scope_ == kAll);
    if (chosen_ == kGroups) return groups_view_.draw(bench, bench.session().plan(), view_->steps);
    draw_summary(bench);
    if (chosen_ == kTimeline)
      draw_spans(bench);
    else if (chosen_ == kMemory)
      draw_memory(bench);
    else
      draw_table(bench, chosen_ == kOps ? tables_.ops : chosen_ == kLines ? tables_.lines : tables_.modules);
  }

 private:
  static constexpr const char *kFreezeHelp = "Keeps the current figures while the run continues.",
                              *kResetHelp = "Clears the measurements.",
                              *kExportHelp =
                                  "Saves the steps as a Chrome trace (ui.perfetto.dev, "
                                  "chrome://tracing) in the run's folder.";

  void take(Workbench& bench) {
    if (!frozen_ || !ranks_) ranks_ = bench.session().rank_profile();
    std::shared_ptr<const ProfileView> latest = frozen_ && view_ ? view_ : bench.session().profile();
    if (latest == view_ && scope_ == merged_) return;
    view_ = std::move(latest);
    merged_ = scope_;
    rows_.clear();
    if (!view_) return;
    const std::span steps(view_->steps);
    if (scope_ == kAll)
      tables_ = view_->all;
    else
      tables_ = merge_profiles(steps.last(std::min(steps.size(), scope_ == kLast ? 1 : kLastSteps)));
    sorted_ = false;
  }

  // Places the next button, in a new line if it does not fit.
  static void flow(const char* label) {
    const float width = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
  }

  void draw_bar(Workbench& bench) {
    for (int i = 0; i < int(std::size(kProfilerTabs)); ++i) {
      if (i == kRanks && !ranks_ && chosen_ != kRanks) continue;  // a run of one process has no ranks
      if (i > 0) flow(kProfilerTabs[i]);
      if (tool_button(kProfilerTabs[i], chosen_ == i)) chosen_ = i;
      bench.description().add_last("profiler.view", kProfilerTabs[i]);
      explain(kProfilerTabHelp[i]);
    }
    flow("last 8 steps      ");
    ImGui::SetNextItemWidth(em(8));
    if (ImGui::BeginCombo("##scope", kScopes[scope_])) {
      for (int i = 0; i < int(std::size(kScopes)); ++i) {
        if (ImGui::Selectable(kScopes[i], scope_ == i)) scope_ = i;
        bench.description().add_last("profiler.choice", kScopes[i]);
      }
      ImGui::EndCombo();
    }
    bench.description().add_last("profiler.scope", kScopes[scope_]);
    explain("Steps to show. Not every step is measured, so that the cost stays below 4 %.");
    flow("Freeze");
    if (tool_button("Freeze", frozen_)) frozen_ = !frozen_;
    bench.description().add_last("profiler.freeze", frozen_ ? "on" : "off");
    explain(kFreezeHelp);
    flow("Reset");
    if (ImGui::Button("Reset")) reset(bench);
    bench.description().add_last("profiler.reset", "");
    explain(kResetHelp);
    flow("Export");
    ImGui::BeginDisabled(!view_);
    if (ImGui::Button("Export")) write_trace(bench);
    bench.description().add_last("profiler.export", "");
    ImGui::EndDisabled();
    explain(kExportHelp);
    if (!said_.empty()) {
      text_in(said_bad_ ? theme().bad : theme().good, "%s", said_.c_str());
      bench.description().add_last("profiler.said", said_);
    }
  }

  void reset(Workbench& bench) {
    bench.measurements().reset_profile();
    view_ = nullptr;
    ranks_ = nullptr;
    frozen_ = false;
    rows_.clear();
    said_.clear();
  }

  void write_trace(Workbench& bench) {
    const std::string& folder = bench.journal().run_folder();
    const std::filesystem::path path = std::filesystem::path(folder.empty() ? "." : folder) / "profile.json";
    try {
      write_file(path.string(), trace_json(*view_, ranks_.get()));
      said_ = "saved in " + std::filesystem::absolute(path).lexically_normal().string();
      said_bad_ = false;
    } catch (const Error& error) {
      said_ = error.what();
      said_bad_ = true;
    }
  }

  // Shows the parts of a step as one bar, and in words.
  void draw_summary(Workbench& bench) {
    const ProfileTables& t = tables_;
    const double steps = double(std::max<int64_t>(t.steps, 1)), whole = std::max(t.length_ns, 1.0);
    struct Part {
      const char* name;
      double ns;
      ImU32 color;
      const char* help;
    };
    std::vector<Part> parts = {
        {"forward", t.forward_ns, theme().series[0], "Operations that the script calls."},
        {"backward", t.backward_ns, theme().series[1],
         "Backward passes: operations, and the walk over the tape."},
        {"optimizer", t.optimizer_ns, theme().series[2], "The steps of optimizers."},
        {ranks_ ? "Lua and ranks" : "Lua", t.script_ns, theme().series[3],
         ranks_
             ? "Everything else: the script itself, and its exchange with other ranks, which Ranks divides."
             : "Everything else: the script itself, printing, logging."}};
    if (t.waiting_ns > 0)
      parts.push_back({kWaiting, t.waiting_ns, theme().faint,
                       "Waiting for the device to compute a value, as the loss. If this is most of a step, "
                       "the device is the limit; if little, the script."});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = em(0.55f);
    float left = at.x;
    for (const Part& part : parts) {
      const float right = left + width * float(part.ns / whole);
      ImGui::GetWindowDrawList()->AddRectFilled({left, at.y}, {right, at.y + height}, part.color);
      left = right;
    }
    ImGui::Dummy({width, height});
    char text[160];
    std::snprintf(text, sizeof text, "%s a step", duration_figure(t.length_ns / steps).c_str());
    text_in(theme().text, "%s", text);
    bench.description().add_last("profiler.step", text);
    for (const Part& part : parts) {
      std::snprintf(text, sizeof text, "%s %s (%.0f %%)", part.name, duration_figure(part.ns / steps).c_str(),
                    100 * part.ns / whole);
      flow((std::string(text) + "xx").c_str());
      color_box(part.color);
      text_in(theme().muted, "%s", text);
      bench.description().add_last("profiler.part", text);
      explain(part.help);
    }
    std::snprintf(text, sizeof text, "%s of %s measured", count_figure(view_->measured).c_str(),
                  counted(view_->measured + view_->passed_over, "step").c_str());
    flow(text);
    text_in(theme().faint, "%s", text);
    bench.description().add_last("profiler.measured", text);
    if (const std::shared_ptr<const StepPlan> plan = bench.session().plan()) {
      const std::string deferred =
          "Deferred: " + count_figure(plan->calls) + " calls in " + count_figure(plan->passes) + " passes" +
          (plan->bytes_saved > 0 ? ", " + bytes_figure(plan->bytes_saved) + " not written" : "");
      text_in(theme().muted, "%s", deferred.c_str());
      bench.description().add_last("profiler.deferred", deferred);
      explain((plan_summary(*plan) + ". " + plan_origin(*plan)).c_str());
    }
    for (const ProfileFallback& missing : view_->fallbacks) {
      std::snprintf(text, sizeof text, "%s ran on the CPU %s: %s", missing.op.c_str(),
                    counted(missing.calls, "time").c_str(), missing.reason.c_str());
      text_in(theme().bad, "%s", text);
      bench.description().add_last("profiler.fallback", text);
    }
  }

  void sort(const std::vector<ProfileRow>& rows, const ImGuiTableSortSpecs* specs) {
    if (sorted_ && rows_.size() == rows.size() && shown_ == chosen_ && !(specs && specs->SpecsDirty)) return;
    sorted_ = true;
    shown_ = chosen_;
    rows_.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) rows_[i] = i;
    const int column = specs && specs->SpecsCount > 0 ? int(specs->Specs[0].ColumnUserID) : int(kSelf);
    const bool up =
        specs && specs->SpecsCount > 0 && specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
    std::stable_sort(rows_.begin(), rows_.end(), [&](size_t a, size_t b) {
      if (!up) std::swap(a, b);
      if (column == kName) return rows[a].name < rows[b].name;
      return value_of(rows[a], column) < value_of(rows[b], column);
    });
  }

  // If not all columns fit, the tooltip of a row has the values of the others.
  void draw_table(Workbench& bench, const std::vector<ProfileRow>& rows) {
    constexpr auto flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                           ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerV |
                           ImGuiTableFlags_NoSavedSettings;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (room.y < ImGui::GetTextLineHeight() * 2) return;
    struct Heading {
      const char *name, *help;
      int column;
    };
    const Heading all[] = {
        {chosen_ == kOps     ? "operation"
         : chosen_ == kLines ? "line"
                             : "module",
         "", kName},
        {"self", "Time without nested operations.", kSelf},
        {"share", "Share of the time of the steps shown.", kShare},
        {"GPU", "Time on the device.", kDevice},
        {"total", chosen_ == kModules ? "Time including inner modules." : "Time including nested operations.",
         kTotal},
        {"forward", "Self time outside backward passes, including the optimizer.", kForward},
        {"backward", "Self time inside backward passes.", kBackward},
        {"calls", "Calls in all steps shown.", kCalls},
        {"bytes", "Bytes of operands and results, each counted once, without views.", kBytes},
        {"FLOP/s",
         "Floating point operations per second of self or GPU time. See the tooltip of an operation for the "
         "formula.",
         kRate}};
    const bool roomy = room.x >= em(54), device = has_device_times();
    std::vector<Heading> headings;
    for (const Heading& heading : all) {
      const bool extra = heading.column == kForward || heading.column == kBackward;
      if (extra ? roomy : heading.column != kDevice || device) headings.push_back(heading);
    }
    const std::string id =
        std::string(kProfilerTabs[chosen_]) + (roomy ? " roomy" : "") + (device ? " device" : "");
    if (!ImGui::BeginTable(id.c_str(), int(headings.size()), flags, room)) return;
    for (const Heading& heading : headings)
      ImGui::TableSetupColumn(heading.name,
                              heading.column == kName   ? ImGuiTableColumnFlags_WidthStretch
                              : heading.column == kSelf ? ImGuiTableColumnFlags_DefaultSort |
                                                              ImGuiTableColumnFlags_PreferSortDescending
                                                        : ImGuiTableColumnFlags_PreferSortDescending,
                              0, ImGuiID(heading.column));
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (const Heading& heading : headings) {
      if (!ImGui::TableNextColumn()) continue;
      ImGui::TableHeader(heading.name);
      bench.description().add_last("profiler.heading", heading.name);
      if (*heading.help) explain(heading.help);
    }
    ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
    sort(rows, specs);
    if (specs) specs->SpecsDirty = false;
    ImGuiListClipper clipper;
    clipper.Begin(int(rows_.size()));
    while (clipper.Step())
      for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r)
        draw_row(bench, rows[rows_[size_t(r)]], roomy, device);
    ImGui::EndTable();
  }

  static const char* name_of(const ProfileRow& row, int view) {
    if (!row.name.empty()) return row.name.c_str();
    return view == kModules ? "(outside of modules)" : "(no line)";
  }

  bool has_device_times() const {
    const auto& lanes = view_->steps.back()->lanes;
    return std::any_of(lanes.begin(), lanes.end(),
                       [](const ProfileLane& lane) { return lane.kind == Worker::device; });
  }

  void draw_row(Workbench& bench, const ProfileRow& row, bool roomy, bool device) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushID(&row);
    const ImU32 color = row.fallbacks > 0 ? theme().bad
                        : chosen_ == kOps ? theme().family[size_t(op_family(row.name))]
                                          : theme().text;
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    // The file name distinguishes lines; the tooltip has the folders.
    std::string name = name_of(row, chosen_);
    if (chosen_ == kLines) name = file_name(name);
    if (chosen_ == kOps) name = public_op_name(name);
    const bool clicked = ImGui::Selectable(name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns);
    ImGui::PopStyleColor();
    char text[200];
    const double whole = std::max(tables_.length_ns, 1.0);
    std::snprintf(text, sizeof text, "%s self %s calls %s", name.c_str(), duration_figure(row.self()).c_str(),
                  count_figure(row.calls).c_str());
    bench.description().add_last("profiler.row", text);
    if (ImGui::IsItemHovered()) explain_row(bench, row);
    ImGui::PopID();
    const auto cell = [&](const std::string& shown, bool strong = true) {
      if (ImGui::TableNextColumn()) text_in(strong ? theme().text : theme().muted, "%s", shown.c_str());
    };
    cell(duration_figure(row.self()));
    std::snprintf(text, sizeof text, "%.1f %%", 100 * row.self() / whole);
    cell(text);
    if (device) cell(figure_or_dash(row.device_ns));
    cell(duration_figure(row.total_ns), false);
    if (roomy)
      for (const Column part : {kForward, kBackward}) cell(figure_or_dash(value_of(row, part)), false);
    cell(count_figure(row.calls), false);
    cell(bytes_figure(row.bytes), false);
    cell(row.flops_ns > 0 ? rate_figure(row.flops_per_second()) : "–", false);
    if (clicked) follow(bench, row);
  }

  static std::string figure_or_dash(double ns) { return ns > 0 ? duration_figure(ns) : "–"; }

  int64_t last_step(Workbench& bench) const {
    return view_->steps.empty() ? bench.shown().latest() : view_->steps.back()->step;
  }

  void explain_row(Workbench& bench, const ProfileRow& row) const {
    const std::string head = chosen_ == kOps ? public_op_name(row.name) : name_of(row, chosen_);
    begin_tip(last_item_subject(), head);
    ImGui::PushTextWrapPos(em(30));
    bold_text(head);
    ImGui::Text("forward %s, backward %s", figure_or_dash(value_of(row, kForward)).c_str(),
                figure_or_dash(value_of(row, kBackward)).c_str());
    if (chosen_ == kOps && *op_doc(row.name)) text_in(theme().muted, "%s", op_doc(row.name));
    if (chosen_ == kLines)
      if (const std::string line = bench.step_texts().line(row.place, last_step(bench)); !line.empty()) {
        ImGui::PushFont(fonts().mono);
        text_in(theme().accent, "%s", line.c_str());
        ImGui::PopFont();
      }
    if (chosen_ == kOps)
      text_in(theme().muted, "Floating point operations: %s.",
              row.formula.empty() ? "no formula is known" : row.formula.c_str());
    if (row.fallbacks > 0)
      text_in(theme().bad, "%s ran on the CPU, since the device lacks the operation.",
              counted(row.fallbacks, "call").c_str());
    ImGui::PopTextWrapPos();
    end_tip();
  }

  void follow(Workbench& bench, const ProfileRow& row) const {
    if (chosen_ == kLines) return go_to_line(bench, row.place);
    const TapeSnapshot* tape = bench.tape().tape();
    if (!tape) return;
    std::vector<int> nodes;
    for (size_t i = 0; i < tape->nodes.size(); ++i) {
      const NodeInfo& node = tape->nodes[i];
      const bool inside = node.module == row.name || node.module.starts_with(row.name + ".");
      if (chosen_ == kOps ? node.op == row.name : inside) nodes.push_back(int(i));
    }
    show_nodes(bench, std::move(nodes));
  }

  std::span<const std::shared_ptr<const StepProfile>> steps() const {
    const std::span all(view_->steps);
    return all.last(std::min(all.size(), scope_ == kLast ? 1 : kLastSteps));
  }

  static TimelineColors colors() {
    const Theme& t = theme();
    return {t.canvas, t.grid, t.text, t.muted, t.bad, t.text};
  }

  void draw_spans(Workbench& bench) {
    if (drawn_view_ != view_ || drawn_scope_ != scope_ || drawn_dark_ != theme().dark) {
      timeline_ = profile_timeline(steps());
      drawn_view_ = view_;
      drawn_scope_ = scope_;
      drawn_dark_ = theme().dark;
    }
    axis_.update(timeline_.length_ns);
    const auto label = [&](int id) {
      const ProfileTimeline::Source& where = timeline_.sources[size_t(id)];
      if (where.span == ProfileTimeline::kPass) return std::string("backward");
      if (where.span == ProfileTimeline::kWait) return std::string(kWaiting);
      if (where.span == ProfileTimeline::kStep) return "step " + std::to_string(where.step->step);
      if (where.span == ProfileTimeline::kNoCall) return std::string(work_name(where.lane->kind));
      return public_op_name(where.step->names[where.step->spans[size_t(where.span)].op]);
    };
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float height = std::min(timeline_height(timeline_.rows.size()),
                                  std::max(room.y - ImGui::GetTextLineHeightWithSpacing(), 1.0f));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const TimelineHit hit =
        draw_timeline("timeline", timeline_.rows, {room.x, height}, em(6), axis_, colors(), label);
    size_t count = 0;
    for (const auto& step : steps()) count += step->spans.size();
    bench.description().add_last("profiler.timeline", count_figure(int64_t(count)) + " operations, " +
                                                          duration_figure(axis_.high - axis_.low) + " shown");
    for (size_t i = 0; i < timeline_.rows.size(); ++i)
      if (!timeline_.rows[i].name.empty())
        bench.description().add(
            "profiler.lane",
            timeline_.rows[i].name + " " + count_figure(int64_t(timeline_.rows[i].blocks.size())),
            {at.x, at.y + float(i) * timeline_row_height()},
            {at.x + room.x, at.y + float(i + 1) * timeline_row_height()});
    int64_t more = 0;
    for (const auto& step : steps()) more += step->more_spans;
    text_in(theme().faint, "%s",
            more > 0
                ? ("Of the longest step " + count_figure(more) + " later operations are in the tables alone.")
                      .c_str()
            : bench.journal().active() && !frozen_ ? "Freeze keeps the chart still."
                                                   : "Colours as in the bar above.");
    if (!hit.hovered) return;
    const auto& [step, index, lane, length, kernel] = timeline_.sources[size_t(hit.id)];
    begin_tip({.area = hit.area, .key = uint64_t(hit.id)});
    if (index == ProfileTimeline::kPass) {
      bold_text("backward pass");
      ImGui::Text("%s in this step, %s of it the walk over the tape",
                  duration_figure(step->backward_ns).c_str(), duration_figure(step->walk_ns).c_str());
    } else if (index == ProfileTimeline::kStep) {
      bold_text("step " + std::to_string(step->step));
      ImGui::TextUnformatted(duration_figure(step->length_ns).c_str());
    } else if (index == ProfileTimeline::kWait) {
      bold_text(kWaiting);
      ImGui::TextUnformatted(duration_figure(length).c_str());
    } else if (index == ProfileTimeline::kNoCall) {
      bold_text(work_name(lane->kind));
      ImGui::Text("%s on %s", duration_figure(length).c_str(), lane->name.c_str());
    } else {
      const ProfileSpan& span = step->spans[size_t(index)];
      bold_text(public_op_name(step->names[span.op]));
      if (lane) ImGui::Text("%s on %s", duration_figure(length).c_str(), lane->name.c_str());
      ImGui::Text("%s%s, %s", lane ? "the call: " : "", duration_figure(span.length_ns).c_str(),
                  profile_phase_name(span.phase));
      if (!span.shape.empty()) text_in(theme().muted, "result %s", span.shape.c_str());
      if (!step->names[span.module].empty())
        text_in(theme().muted, "module %s", step->names[span.module].c_str());
      if (span.place.line > 0) text_in(theme().muted, "%s:%d", span.place.file.c_str(), span.place.line);
      if (span.fell_back) text_in(theme().bad, "ran on the CPU, since the device lacks it");
      if (hit.clicked) go_to_line(bench, span.place);
    }
    if (kernel) {
      const std::string said = "kernel " + interned(kernel);
      text_in(theme().muted, "%s", said.c_str());
      bench.description().add_last("profiler.kernel", said);
    }
    end_tip();
  }

  void draw_memory(Workbench& bench) {
    const StepProfile& step = *view_->steps.back();
    if (step.memory.empty()) return;
    memory_axis_.update(step.length_ns);
    // A pattern would not be visible in a pixel: names in the same order are next to the colours.
    const std::array<ImU32, kMemoryParts> parts = {theme().series[0], theme().series[3], theme().series[1],
                                                   theme().series[2], theme().series[6], theme().series[4]};
    const MemorySample& peak = step.memory[step.peak];
    const std::string said = "peak " + bytes_figure(peak.sum()) + " at " + duration_figure(peak.at_ns) +
                             " of step " + std::to_string(step.step) + " on " + view_->device;
    text_in(theme().text, "%s", said.c_str());
    bench.description().add_last("profiler.peak", said);
    const MemorySample* shown = hovered_sample_ < step.memory.size() ? &step.memory[hovered_sample_] : &peak;
    for (size_t i = kMemoryParts; i-- > 0;) {
      const std::string text =
          std::string(memory_part_name(MemoryPart(i))) + " " + bytes_figure(shown->bytes[i]);
      if (i + 1 < kMemoryParts) flow((text + "xxx").c_str());
      color_box(parts[i]);
      text_in(theme().muted, "%s", text.c_str());
      bench.description().add_last("profiler.memory", text);
      explain(kPartHelp[i]);
    }
    const auto sample = [&](size_t i) { return StackSample{step.memory[i].at_ns, step.memory[i].bytes}; };
    const StackHit hit =
        draw_stack("memory", step.memory.size(), sample, step.peak, parts, ImGui::GetContentRegionAvail(),
                   em(6), memory_axis_, colors(), [](double bytes) { return bytes_figure(bytes); });
    bench.description().add_last("profiler.stack", count_figure(int64_t(step.memory.size())) + " moments");
    hovered_sample_ = hit.hovered ? hit.sample : SIZE_MAX;
    if (!hit.hovered) return;
    const MemorySample& at = step.memory[hit.sample];
    begin_tip({.area = hit.area, .aside = true});
    ImGui::Text("%s at %s", bytes_figure(at.sum()).c_str(), duration_figure(at.at_ns).c_str());
    for (size_t i = kMemoryParts; i-- > 0;)
      text_in(theme().muted, "%s %s", memory_part_name(MemoryPart(i)), bytes_figure(at.bytes[i]).c_str());
    end_tip();
  }

  int chosen_ = kOps, shown_ = -1;
  int scope_ = kLast, merged_ = -1;
  bool frozen_ = false, sorted_ = false;
  std::shared_ptr<const ProfileView> view_;
  std::shared_ptr<const RankProfile> ranks_;  // null: the run has one process, or no step was measured
  RanksView ranks_view_;
  GroupsView groups_view_;
  OwnersView owners_view_;
  ProfileTables tables_;
  std::vector<size_t> rows_;  // rows of the table, in the displayed order
  std::string said_;
  bool said_bad_ = false;
  TimeAxis axis_, memory_axis_;
  ProfileTimeline timeline_;
  std::shared_ptr<const ProfileView> drawn_view_;  // the view that rows_ was made from
  int drawn_scope_ = -1;
  bool drawn_dark_ = false;
  size_t hovered_sample_ = SIZE_MAX;
};

}  // namespace

std::unique_ptr<Panel> make_profiler_panel() { return std::make_unique<ProfilerPanel>(); }

}  // namespace lunagrad
