// History: the changes that lg.surgery made to the running model, with undo and redo. A click goes to the
// state after a change.
#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

class HistoryPanel final : public Panel {
 public:
  const char* title() const override { return "History"; }
  Region region() const override { return Region::lower_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    for (const char* panel : {"History", "Tape", "Gradients", "Inspector"}) {
      const std::string prefix = std::string(panel) + ": ";
      bench.commands().add({prefix + "undo the last change", "Ctrl+Z",
                            "Undoes the latest change of the model.", [&bench] { undo(bench); },
                            [&bench] { return in_effect(bench) > 0; }, panel});
      bench.commands().add({prefix + "redo the change", "Ctrl+Shift+Z",
                            "Redoes the change of the model that was undone last.", [&bench] { redo(bench); },
                            [&bench] { return in_effect(bench) < count(bench); }, panel});
    }
  }

  void draw_tools(Workbench& bench) override {
    if (count(bench) == 0) return;
    ImGui::BeginDisabled(in_effect(bench) == 0);
    if (ImGui::Button("Undo")) undo(bench);
    ImGui::EndDisabled();
    bench.description().add_last("history.undo", "");
    explain(
        "Gives the model, its optimizers and the random numbers the state from before the change. Ctrl+Z.");
    ImGui::SameLine();
    ImGui::BeginDisabled(in_effect(bench) == count(bench));
    if (ImGui::Button("Redo")) redo(bench);
    ImGui::EndDisabled();
    bench.description().add_last("history.redo", "");
    explain("Gives it the state that was undone. Ctrl+Shift+Z.");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const SurgeryHistory& history = *bench.journal().surgery();
    const std::string kept =
        bytes_figure(double(history.bytes)) + " of " + bytes_figure(double(history.budget));
    text_in(theme().muted, "%s", kept.c_str());
    bench.description().add_last("history.bytes", kept);
    explain("What undo keeps, and its budget: lg.surgery.budget(bytes). The oldest changes go first.");
  }

  void draw(Workbench& bench) override {
    if (count(bench) == 0) {
      draw_empty(
          "No changes yet",
          "Right-click a node of the tape or a parameter to change the model, or call lg.surgery in the "
          "console.");
      return;
    }
    const auto flags =
        ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH;
    if (!ImGui::BeginTable("changes", 3, flags)) return;
    ImGui::TableSetupColumn("step");
    ImGui::TableSetupColumn("title", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("bytes");
    draw_row(bench, 0, "", "as the script made it", "", "The state before the oldest change here.");
    const auto& entries = bench.journal().surgery()->entries;
    for (size_t i = 0; i < entries.size(); ++i)
      draw_row(bench, i + 1, "step " + std::to_string(entries[i].step), entries[i].title,
               bytes_figure(double(entries[i].bytes)), entries[i].line);
    ImGui::EndTable();
  }

 private:
  static size_t count(const Workbench& bench) {
    return bench.journal().surgery() ? bench.journal().surgery()->entries.size() : 0;
  }
  static size_t in_effect(const Workbench& bench) {
    size_t found = 0;
    for (size_t i = 0; i < count(bench); ++i) found += !bench.journal().surgery()->entries[i].undone;
    return found;
  }
  static void undo(Workbench& bench) { bench.control().evaluate("lg.surgery.undo()"); }
  static void redo(Workbench& bench) { bench.control().evaluate("lg.surgery.redo()"); }

  // Draws the state in which `changes` changes are in effect; the current state is marked.
  static void draw_row(Workbench& bench, size_t changes, const std::string& step, const std::string& title,
                       const std::string& bytes, const std::string& help) {
    const size_t now = in_effect(bench);
    ImGui::PushID(int(changes));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const ImU32 color = changes > now ? theme().faint : theme().text;
    text_in(theme().muted, "%s", step.c_str());
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    const std::string label = title + (changes > now ? " (undone)" : "");
    if (ImGui::Selectable(label.c_str(), changes == now, ImGuiSelectableFlags_SpanAllColumns) &&
        changes != now)
      bench.control().evaluate("lg.surgery.go_to(" + std::to_string(changes) + ")");
    ImGui::PopStyleColor();
    bench.description().add_last("history.entry", label + (changes == now ? " (now)" : ""));
    explain((help + "\nClick to go to this state.").c_str());
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", bytes.c_str());
    ImGui::PopID();
  }
};

}  // namespace

std::unique_ptr<Panel> make_history_panel() { return std::make_unique<HistoryPanel>(); }

}  // namespace lunagrad
