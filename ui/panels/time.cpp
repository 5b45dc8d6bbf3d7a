// Time: the kept steps as a slider, with their edits, reloads and checkpoints, and the memory that they take.
#include <algorithm>
#include <cmath>

#include "runtime/figures.h"
#include "ui/base/counted.h"
#include "ui/window/texture.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

class TimePanel final : public Panel {
 public:
  const char* title() const override { return "Time"; }
  Region region() const override { return Region::lower_left; }

  void add_commands(Workbench& bench) override {
    const auto kept = [&bench] { return !bench.shown().history().steps.empty(); };
    bench.commands().add_composed(
        {"Back in time", ",", "Shows the previous kept step.", [&bench] { bench.shown().move(-1); }, kept});
    bench.commands().add_composed(
        {"Forward in time", ".", "Shows the next kept step.", [&bench] { bench.shown().move(1); }, kept});
    bench.commands().add_composed({"Latest step", "", "Shows the latest step and follows the run.",
                                   [&bench] { bench.shown().go_live(); },
                                   [&bench] { return !bench.shown().live(); }});
  }

  void draw_tools(Workbench& bench) override {
    if (bench.shown().history().steps.empty()) return;
    if (ImGui::Button("<")) bench.shown().move(-1);
    bench.description().add_last("time.back", "");
    explain("Previous kept step. Comma.");
    ImGui::SameLine(0, em(0.25f));
    if (ImGui::Button(">")) bench.shown().move(1);
    bench.description().add_last("time.forward", "");
    explain("Next kept step. Full stop.");
    ImGui::SameLine(0, em(0.25f));
    if (tool_button("Live", bench.shown().live())) bench.shown().go_live();
    bench.description().add_last("time.live", bench.shown().live() ? "on" : "off");
    explain("Shows the latest step and follows the run.");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const std::string shown = "step " + std::to_string(bench.shown().step());
    text_in(bench.shown().live() ? theme().muted : theme().warning, "%s", shown.c_str());
    bench.description().add_last("time.step", shown);
  }

  void draw(Workbench& bench) override {
    const History& history = bench.shown().history();
    if (history.steps.empty()) {
      draw_empty("No steps yet",
                 "The tapes of past steps are kept here, with values where you stepped or paused.");
      return;
    }
    draw_strip(bench, history);
    draw_memory(bench, history);
    draw_list(bench, history);
  }

 private:
  // A tick for each kept step, taller if values are kept, and event marks.
  void draw_strip(Workbench& bench, const History& history) {
    const int64_t first = history.steps.front().step, last = history.steps.back().step;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x, em(4)), height = em(2.4f), pad = em(0.5f);
    ImGui::InvisibleButton("strip", {width, height});
    bench.description().add_last("time.strip", std::to_string(history.steps.size()) + " steps, " +
                                                   std::to_string(first) + " to " + std::to_string(last));
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + width, at.y + height}, theme().canvas, em(0.3f));
    const auto x_of = [&](int64_t step) {
      const double part = last > first ? double(step - first) / double(last - first) : 1.0;
      return at.x + pad + float(part) * (width - 2 * pad);
    };
    const auto step_at = [&](float x) {
      const double part = std::clamp(double((x - at.x - pad) / (width - 2 * pad)), 0.0, 1.0);
      return first + int64_t(std::llround(part * double(last - first)));
    };
    for (const KeptStep& kept : history.steps) {
      const float x = x_of(kept.step), top = at.y + height * (kept.values ? 0.25f : 0.6f);
      list->AddLine({x, top}, {x, at.y + height - 2}, kept.values ? theme().accent : theme().faint);
    }
    for (const RunMark& mark : bench.journal().curves().marks) {
      if (mark.step < first || mark.step > last) continue;
      const float x = x_of(mark.step), size = em(0.3f);
      const ImU32 color = mark.kind == RunMark::Kind::edit ? theme().warning : theme().good;
      list->AddTriangleFilled({x - size, at.y + 1}, {x + size, at.y + 1}, {x, at.y + 1 + 1.6f * size}, color);
      if (hovered && std::abs(ImGui::GetIO().MousePos.x - x) < size + 2)
        ImGui::SetTooltip("step %lld: %s", static_cast<long long>(mark.step), mark.text.c_str());
    }
    const float x = x_of(std::clamp(bench.shown().step(), first, last));
    list->AddLine({x, at.y}, {x, at.y + height}, theme().text, 2);
    list->AddCircleFilled({x, at.y + height - em(0.35f)}, em(0.35f),
                          bench.shown().live() ? theme().text : theme().warning);
    if (ImGui::IsItemActive()) {
      const int64_t wanted = step_at(ImGui::GetIO().MousePos.x);
      if (wanted >= last)
        bench.shown().go_live();
      else
        bench.shown().stand_on(wanted);
    }
    explain(
        "Kept steps. Drag to go back in time. Tall ticks have values; triangles are edits, reloads and "
        "checkpoints.");
  }

  void draw_memory(Workbench& bench, const History& history) {
    size_t values = 0;
    for (const KeptStep& kept : history.steps) values += kept.values;
    const std::string used = mebibytes_figure(bench.shown().memory_held()) + " of " +
                             mebibytes_figure(bench.shown().memory_budget()) + ", pictures " +
                             mebibytes_figure(Texture::bytes_in_use());
    ImGui::AlignTextToFramePadding();
    ImGui::PushTextWrapPos(0);
    text_in(theme().muted, "%s, %zu with values, %s", counted(int64_t(history.steps.size()), "step").c_str(),
            values, used.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("time.memory", used);
    explain(
        "Memory of the window beside the run's: tapes, captured tensors and pictures. The oldest steps are "
        "dropped first.");
    ImGui::SameLine();
    int budget = int(bench.shown().memory_budget() >> 20);
    // Next to the slider, whose grab would cover it.
    const std::string label = "budget " + std::to_string(budget) + " MiB";
    if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(label.c_str()).x + em(6)) ImGui::NewLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label.c_str());
    ImGui::SameLine();
    ImGui::SetNextItemWidth(em(5));
    if (ImGui::SliderInt("##budget", &budget, 16, 4096, "",
                         ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp))
      bench.shown().set_memory_budget(size_t(budget) << 20);
    bench.description().add_last("time.budget", std::to_string(budget));
    explain("Memory budget of kept steps and pictures. Ctrl+click to type.");
  }

  // Newest first.
  static void draw_list(Workbench& bench, const History& history) {
    const auto flags =
        ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY;
    if (!ImGui::BeginTable("steps", 3, flags)) return;
    ImGuiListClipper clipper;
    const int count = int(history.steps.size());
    clipper.Begin(count);
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const KeptStep& kept = history.steps[size_t(count - 1 - i)];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        const std::string name = "step " + std::to_string(kept.step);
        if (ImGui::Selectable(name.c_str(), kept.step == bench.shown().step(),
                              ImGuiSelectableFlags_SpanAllColumns)) {
          if (i == 0)
            bench.shown().go_live();
          else
            bench.shown().stand_on(kept.step);
        }
        const char* const what = kept.complete ? "tape and values"
                                 : kept.values ? "tape, some values"
                                               : "tape";
        bench.description().add_last("time.kept", name + " " + what);
        ImGui::TableNextColumn();
        text_in(theme().muted, "%s", what);
        ImGui::TableNextColumn();
        text_in(theme().muted, "%s", bytes_figure(double(kept.tape_bytes + kept.value_bytes)).c_str());
      }
    ImGui::EndTable();
  }
};

}  // namespace

std::unique_ptr<Panel> make_time_panel() { return std::make_unique<TimePanel>(); }

}  // namespace lunagrad
