#include "ui/panels/tape/diff_window.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "runtime/core/figures.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr size_t kTimes = 3;  // nodes whose times are listed

ImU32 color_of(const TapeFinding& finding) {
  using Kind = TapeFinding::Kind;
  if (finding.follows) return theme().muted;
  switch (finding.kind) {
    case Kind::removed:
      return theme().bad;
    case Kind::added:
      return theme().series[3];
    case Kind::changed:
      return theme().warning;
    default:
      return theme().text;
  }
}

// The text, or as much of its end as fits, behind "…": the end of a name says most.
std::string fitting_end(std::string_view text, const Fonts::Label& label, float width) {
  if (label.width(text) <= width) return std::string(text);
  for (size_t from = 1; from < text.size(); ++from) {
    if ((static_cast<unsigned char>(text[from]) & 0xc0) == 0x80) continue;  // inside a character
    std::string part = "…" + std::string(text.substr(from));
    if (label.width(part) <= width) return part;
  }
  return {};
}

// Goes to the node on the shown tape, else to the line of the script.
void go_to_finding(Workbench& bench, const TapeDiff& diff, const TapeFinding& finding) {
  const int64_t id = node_of(diff, finding);
  if (const int node = id < 0 ? -1 : bench.tape().find_node(uint64_t(id)); node >= 0)
    bench.tape_actions().select(node);
  else if (const SourcePlace place = place_of(diff, finding); place.line > 0)
    bench.texts().go_to(place, bench.tape_comparing().other_step());
}

void draw_findings(Workbench& bench, const TapeDiff& diff) {
  if (!ImGui::BeginTable("findings", 4,
                         ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
                             ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings,
                         {0, std::max(ImGui::GetContentRegionAvail().y - em(9.5f), em(6))}))
    return;
  // A long name takes no width from the figures, which are what the list is read for.
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, widest({"cause", "follows"}));
  ImGui::TableSetupColumn("difference", ImGuiTableColumnFlags_WidthFixed, widest({"gradient moved"}));
  ImGui::TableSetupColumn("node", ImGuiTableColumnFlags_WidthStretch, 1);
  ImGui::TableSetupColumn("from, to", ImGuiTableColumnFlags_WidthStretch, 1.3f);
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableHeadersRow();
  ImGuiListClipper clipper;
  clipper.Begin(int(diff.findings.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const TapeFinding& finding = diff.findings[size_t(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      const std::string role = finding.follows ? "follows" : "cause";
      if (ImGui::Selectable(role.c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
        go_to_finding(bench, diff, finding);
      bench.description().add_last(
          "tape.diff.finding", role + " " + finding_kind(finding) + " " + finding.name + " " + finding.text);
      const SourcePlace place = place_of(diff, finding);
      explain((finding.name + ": " + finding.text +
               (place.line > 0 ? "\n" + place.file + ":" + std::to_string(place.line) : "") +
               (node_of(diff, finding) < 0 ? "\nOnly the other tape has it. Click to go to its line."
                                           : "\nClick to select the node."))
                  .c_str());
      ImGui::PopID();
      const Fonts::Label label{ImGui::GetFont(), ImGui::GetFontSize()};
      const auto cell = [&](const char* name, const std::string& words, auto cut) {
        ImGui::TableNextColumn();
        const std::string shown = cut(words, label, ImGui::GetContentRegionAvail().x);
        text_in(color_of(finding), "%s", shown.c_str());
        bench.description().add_last(name, shown);
      };
      cell("tape.diff.kind", finding_kind(finding), fitting_text);
      cell("tape.diff.node", finding.name, fitting_end);
      cell("tape.diff.figure", finding.text, fitting_text);
    }
  ImGui::EndTable();
}

// Times are only information: they differ between any two steps.
void draw_times(Workbench& bench, const TapeDiff& diff) {
  const auto sum = [](const TapeGraph& graph) {
    double all = 0;
    for (const TapeNode& node : graph.nodes) all += time_of(node);
    return duration_figure(all);
  };
  const auto line = [&](const std::string& words) {
    text_in(theme().muted, "%s", words.c_str());
    bench.description().add_last("tape.diff.time", words);
  };
  line("time of all nodes: " + sum(diff.a) + " and " + sum(diff.b) + "; the nodes that differ most:");
  for (const size_t p : by_time(diff, kTimes)) {
    const TapeNode &a = diff.a.nodes[size_t(diff.pairs[p].a)], &b = diff.b.nodes[size_t(diff.pairs[p].b)];
    line("  " + label_of(b) + " " + duration_figure(time_of(a)) + " and " + duration_figure(time_of(b)));
  }
}

}  // namespace

void DiffWindow::draw(Workbench& bench) {
  const std::shared_ptr<const TapeDiff> diff = bench.tape_comparing().difference();
  if (!diff) return;
  if (diff != shown_) {
    shown_ = diff;
    const std::string& folder = bench.journal().run_folder();
    std::snprintf(path_, sizeof path_, "%s%stape-diff-%lld.html", folder.c_str(), folder.empty() ? "" : "/",
                  static_cast<long long>(diff->b.step));
  }
  const ImVec2 whole = ImGui::GetMainViewport()->Size;
  ImGui::SetNextWindowSize({std::min(em(56), whole.x * 0.9f), std::min(em(28), whole.y * 0.85f)},
                           ImGuiCond_Appearing);
  ImGui::SetNextWindowPos({em(1), whole.y - em(1)}, ImGuiCond_Appearing, {0, 1});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  bool open = true;
  if (ImGui::Begin("Compare tapes", &open, ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    if (ImGui::IsWindowFocused() && key_pressed(GLFW_KEY_ESCAPE, false)) open = false;
    draw_head(bench, *diff);
    if (!diff->equal()) draw_findings(bench, *diff);
    draw_times(bench, *diff);
    draw_save(bench);
  }
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (!open) bench.tape_comparing().close();
}

void DiffWindow::draw_head(Workbench& bench, const TapeDiff& diff) {
  ImGui::PushTextWrapPos(0);
  text_in(theme().muted, "from %s (%zu nodes) to %s (%zu nodes)", diff.a.title.c_str(), diff.a.nodes.size(),
          diff.b.title.c_str(), diff.b.nodes.size());
  bold_text(diff_counts(diff));
  bench.description().add_last("tape.diff.counts", diff_counts(diff));
  for (const std::string& note : diff.notes) {
    text_in(theme().warning, "%s", note.c_str());
    bench.description().add_last("tape.diff.note", note);
  }
  ImGui::PopTextWrapPos();
}

void DiffWindow::draw_save(Workbench& bench) {
  ImGui::SetNextItemWidth(std::max(ImGui::GetContentRegionAvail().x - em(8), em(6)));
  ImGui::InputText("##page", path_, sizeof path_);
  bench.description().add_last("tape.diff.path", path_);
  explain("Path of a page for a browser, relative to where Lunagrad was started.");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::Button("Save as HTML") && path_[0]) bench.tape_comparing().save(path_);
  bench.description().add_last("tape.diff.save", "");
  explain("Writes the difference, both graphs and the scripts as one page, which needs no network.");
  const std::string& result = bench.tape_comparing().result();
  if (result.empty()) return;
  ImGui::PushTextWrapPos(0);
  text_in(theme().muted, "%s", result.c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last("tape.diff.told", result);
}

}  // namespace lunagrad
