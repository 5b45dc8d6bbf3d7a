#include "ui/panels/profile/owners.h"

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/panels/profile/owner_words.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

// "tapes of 40 steps", "12 tensors"
std::string what_text(const Leak& leak) {
  if (leak.what == Leak::What::tapes) return "tapes of " + counted(leak.count, "step");
  return counted(leak.count, leak.what == Leak::What::tensors ? "tensor" : "parameter");
}

}  // namespace

void OwnersView::draw(Workbench& bench) {
  draw_tools(bench);
  const auto report = bench.owners().report();
  if (report && !(report->leaks.empty() && report->held.empty())) return draw_table(bench, *report);
  const OwnerWords words = words_without_owners(report.get(), bench.owners().watching());
  draw_empty(words.headline.c_str(), words.sentence.c_str());
  bench.description().add_last("profiler.no_owners", words.headline + ": " + words.sentence);
}

void OwnersView::draw_tools(Workbench& bench) {
  OwnerController& owners = bench.owners();
  ImGui::BeginDisabled(owners.finding());
  if (ImGui::Button("Find owners")) owners.find();
  ImGui::EndDisabled();
  bench.description().add_last("profiler.find_owners", owners.finding() ? "walking" : "");
  explain("Walks once through all that the script keeps alive.");
  ImGui::SameLine();
  if (tool_button("Every step", owners.watching())) owners.watch(!owners.watching());
  bench.description().add_last("profiler.watch_owners", owners.watching() ? "on" : "off");
  explain(
      "Walks at the ends of steps: of the first twelve, for a second at most, then of as many as take a "
      "fifth of the time. Tells leaks from buffers, and since when an owner grows.");
  std::string words;
  if (const auto report = owners.report()) {
    words = "after step " + std::to_string(report->step) + ", a walk of " +
            duration_figure(report->seconds * 1e9);
    if (owners.watching() && report->share > 0)
      words += ", " + number_figure(100 * report->share, 2) + " % of the time";
    words += "; tensors from " + bytes_figure(double(report->threshold));
    if (!report->complete) words += "; not all objects";
    if (!report->locals) words += "; without local variables";
  }
  if (owners.finding()) words = "walking at the next operation of the script";
  if (words.empty()) return;
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(words.c_str()).x) ImGui::NewLine();
  ImGui::AlignTextToFramePadding();
  text_in(theme().muted, "%s", words.c_str());
  bench.description().add_last("profiler.owners_cost", words);
  explain(
      "Tensors without a graph count if their owner holds so many bytes of them, graphs and parameters "
      "always.");
}

void OwnersView::draw_table(Workbench& bench, const LeakReport& report) {
  if (!ImGui::BeginTable("owners", 6,
                         ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit |
                             ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoSavedSettings))
    return;
  ImGui::TableSetupColumn("");
  ImGui::TableSetupColumn("owner", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("holds");
  ImGui::TableSetupColumn("bytes");
  ImGui::TableSetupColumn("since step");
  ImGui::TableSetupColumn("grows since");
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableHeadersRow();
  for (const Leak& leak : report.leaks) draw_row(bench, leak, true);
  for (const Leak& leak : report.held) draw_row(bench, leak, false);
  ImGui::EndTable();
}

void OwnersView::draw_row(Workbench& bench, const Leak& leak, bool leaks) {
  const char* const role = leaks ? "leaks" : leak.growing_since > 0 ? "grows" : "held";
  const ImU32 color = leaks ? theme().bad : leak.growing_since > 0 ? theme().warning : theme().text;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID((leak.owner + leak_name(leak.what)).c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  const SourcePlace& place = leak.place.line > 0 ? leak.place : leak.made;
  if (ImGui::Selectable(role, false, ImGuiSelectableFlags_SpanAllColumns) && place.line > 0)
    bench.texts().go_to(place);
  ImGui::PopStyleColor();
  const std::string grows =
      leak.growing_since > 0 ? " grows since " + std::to_string(leak.growing_since) : "";
  bench.description().add_last("profiler.owner",
                               std::string(role) + " " + leak.owner + " " + what_text(leak) + " since " +
                                   std::to_string(leak.since) + grows + " " + file_and_line(place));
  std::string help = leak.path;
  if (leak.place.line > 0) help += "\nDeclared at " + file_and_line(leak.place) + ".";
  if (leak.made.line > 0) help += "\nThe latest was made at " + file_and_line(leak.made) + ".";
  if (leak.nodes > 0) help += "\n" + counted(leak.nodes, "node") + " of the tape.";
  if (!leak.advice.empty()) help += "\nInstead: " + leak.advice + ".";
  if (place.line > 0) help += "\nClick to go to the line.";
  explain(help.c_str());
  ImGui::PopID();
  ImGui::TableNextColumn();
  text_in(theme().text, "%s", leak.owner.c_str());
  if (!leak.advice.empty()) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().muted, "%s", leak.advice.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("profiler.owner_advice", leak.advice);
  }
  for (const std::string& cell :
       {what_text(leak), bytes_figure(double(leak.bytes)), std::to_string(leak.since),
        leak.growing_since > 0 ? std::to_string(leak.growing_since) : std::string("–")}) {
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", cell.c_str());
  }
}

}  // namespace lunagrad
