// Time: a track of all steps of the run with a handle, and below it the list of kept steps, the probes, or
// the memory of kept steps and keyframes.
#include <algorithm>

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/panels/time/fork_form.h"
#include "ui/panels/time/probe_list.h"
#include "ui/panels/time/track.h"
#include "ui/window/texture.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

class TimePanel final : public Panel {
 public:
  const char* title() const override { return "Time"; }
  Region region() const override { return Region::lower_left; }
  // The track shows all steps.
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    const auto kept = [&bench] { return !bench.shown().history().steps.empty(); };
    bench.commands().add_composed(
        {"Back in time", ",", "Shows the previous kept step.", [&bench] { bench.shown().move(-1); }, kept});
    bench.commands().add_composed(
        {"Forward in time", ".", "Shows the next kept step.", [&bench] { bench.shown().move(1); }, kept});
    bench.commands().add_composed({"Latest step", "", "Shows the latest step and follows the run.",
                                   [this, &bench] { go_live(bench); },
                                   [&bench] { return !bench.shown().live(); }});
    for (const SectionText& text : kSections)
      add_own_command(bench, text.label, text.help, [this, section = text.section] { section_ = section; });
    track_.add_commands(bench, title());
    bench.commands().add_composed({"Add a probe",
                                   "",
                                   "A value of each step of the run, past and coming.",
                                   [&bench] { propose_probe(bench, {}); },
                                   {}});
    bench.commands().add_composed({"Go on from here...", "", "Starts a new run after the step that is shown.",
                                   [this, &bench] {
                                     bench.shell().show_panel(title());
                                     fork(bench);
                                   },
                                   [&bench] { return bench.shown().last_step() > 0; }});
    bench.commands().add_composed(
        {"Text: probe at the line", "Shift+F9", "A value that the script has when the caret's line runs.",
         [&bench] { propose_probe_at_caret(bench); },
         [&bench] { return bench.texts().documents().active() != nullptr; }, "Editor"});
  }

  void draw_tools(Workbench& bench) override {
    if (empty(bench)) return;
    if (ImGui::Button("<")) bench.shown().move(-1);
    bench.description().add_last("time.back", "");
    explain("Previous kept step. Comma.");
    ImGui::SameLine(0, em(0.25f));
    if (ImGui::Button(">")) bench.shown().move(1);
    bench.description().add_last("time.forward", "");
    explain("Next kept step. Full stop.");
    ImGui::SameLine(0, em(0.25f));
    if (tool_button("Live", bench.shown().live())) go_live(bench);
    bench.description().add_last("time.live", bench.shown().live() ? "on" : "off");
    explain("Shows the latest step and follows the run.");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const std::string shown =
        "step " + std::to_string(bench.shown().cursor()) + (bench.shown().at_replay() ? " (replayed)" : "");
    text_in(bench.shown().live() ? theme().muted : theme().warning, "%s", shown.c_str());
    bench.description().add_last("time.step", shown);
    ImGui::SameLine();
    ImGui::BeginDisabled(bench.journal().run_folder().empty());
    if (ImGui::Button("Go on from here...")) fork(bench);
    ImGui::EndDisabled();
    fork_button_ = last_item_area();
    bench.description().add_last("time.fork", "");
    explain("Starts a new run after this step, with other parameters or the edited script.");
  }

  void draw(Workbench& bench) override {
    if (probes_.take_proposed(bench)) section_ = Section::probes;
    probes_.draw_form(bench);
    if (empty(bench) && section_ != Section::probes) {
      draw_empty(
          "No steps yet",
          "A track of all steps of the run: go back to any of them, with its tape, values and gradients.");
      return;
    }
    const History& history = bench.shown().history();
    fork_.draw(bench, fork_button_);
    bench.curves().look_around(bench.script());  // finds runs that were forked from this one
    if (bench.shown().last_step() > 0) track_.draw(bench);
    ForkForm::draw_state(bench);
    draw_sections(bench);
    if (section_ == Section::probes) return probes_.draw(bench);
    if (section_ == Section::steps) return draw_list(bench, history);
    draw_memory(bench, history);
    draw_keyframes(bench);
  }

 private:
  enum class Section { steps, probes, memory };
  struct SectionText {
    Section section;
    const char *label, *help;
  };
  static constexpr SectionText kSections[] = {
      {Section::steps, "Kept steps", "The steps whose tapes are kept, the latest first."},
      {Section::probes, "Probes", "Values of each step of the run that nobody logged."},
      {Section::memory, "Memory", "What kept steps, pictures and keyframes may take."},
  };

  void draw_sections(Workbench& bench) {
    const size_t probes = bench.probes().items().size();
    for (const SectionText& text : kSections) {
      const bool counts = text.section == Section::probes && probes > 0;
      const std::string label = text.label + (counts ? " (" + std::to_string(probes) + ")" : std::string());
      if (text.section != Section::steps) ImGui::SameLine(0, em(0.25f));
      if (tool_button(label.c_str(), section_ == text.section)) section_ = text.section;
      bench.description().add_last("time.section", label);
      explain(text.help);
    }
    if (section_ != Section::probes) return;
    ImGui::SameLine();
    probes_.draw_button(bench);
  }

  // Forks after the shown step; the values of a step in progress are not known yet.
  void fork(Workbench& bench) {
    fork_.open(bench, "",
               std::clamp(bench.shown().cursor(), bench.shown().first_step(), bench.shown().last_step()));
  }

  void go_live(Workbench& bench) {
    track_.let_go();
    bench.shown().go_live();
  }

  static bool empty(Workbench& bench) {
    return bench.shown().history().steps.empty() && bench.shown().last_step() == 0;
  }

  // A label and next to it a slider in MiB, whose grab would cover a label inside. Returns true when it was
  // moved.
  static bool budget_slider(const char* id, const std::string& label, int* mebibytes, int least, int most) {
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(label.c_str()).x + em(6)) ImGui::NewLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label.c_str());
    ImGui::SameLine();
    ImGui::SetNextItemWidth(em(5));
    return ImGui::SliderInt(id, mebibytes, least, most, "",
                            ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
  }

  void draw_keyframes(Workbench& bench) {
    const MemoryKeyframes* const keyframes = bench.shown().replay().keyframes();
    if (!keyframes) return;
    int& budget = bench.shell().settings().keyframe_mebibytes;
    const std::string text = counted(int64_t(keyframes->steps().size()), "keyframe") + ", " +
                             mebibytes_figure(keyframes->bytes()) + ", " +
                             number_figure(100 * keyframes->share(), 2) + " % of the time";
    ImGui::AlignTextToFramePadding();
    ImGui::PushTextWrapPos(0);
    text_in(theme().muted, "%s", text.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("time.keyframe_memory", text);
    explain(
        "States of the run, from which any step is repeated: what lg.run.state registers. Without them a "
        "replay begins with the first step.");
    budget_slider("##keyframes", "keyframes up to " + std::to_string(budget) + " MiB", &budget,
                  kLeastKeyframes, kMostKeyframes);
    bench.description().add_last("time.keyframe_budget", std::to_string(budget));
    explain("What the keyframes may take. They lie closer together in the latest steps. Ctrl+click to type.");
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
    int budget = int(bench.shown().memory_budget() >> 20);
    if (budget_slider("##budget", "kept steps and pictures up to " + std::to_string(budget) + " MiB", &budget,
                      16, 4096))
      bench.shown().set_memory_budget(size_t(budget) << 20);
    bench.description().add_last("time.budget", std::to_string(budget));
    explain("What kept steps and the pictures of all panels may take. Ctrl+click to type.");
  }

  // Newest first.
  void draw_list(Workbench& bench, const History& history) {
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
        if (ImGui::Selectable(name.c_str(), kept.step == bench.shown().cursor(),
                              ImGuiSelectableFlags_SpanAllColumns)) {
          if (i == 0)
            go_live(bench);
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

  Section section_ = Section::steps;
  TimeTrack track_;
  ProbeList probes_;
  ForkForm fork_;
  ScreenArea fork_button_{};
};

}  // namespace

std::unique_ptr<Panel> make_time_panel() { return std::make_unique<TimePanel>(); }

}  // namespace lunagrad
