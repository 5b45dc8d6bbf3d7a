// Breakpoints: a list of the places and conditions where the run pauses, a form for new ones, the hits, and
// the explanation of a NaN.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "runtime/core/op.h"
#include "ui/window/indented_text.h"
#include "ui/window/outlined.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

using Condition = Breakpoint::Condition;

struct Form {
  Condition condition;
  const char* label;
  const char* hint;  // shown in the empty field; null: the form has no field
  const char* help;
};

constexpr Form kForms[] = {
    {Condition::not_finite, "NaN or Inf", nullptr,
     "The op that makes the first NaN of a step, or an Inf that no operand had. Checking every op slows the "
     "run down."},
    {Condition::norm, "norm above", "10", "A result or gradient with a larger norm, once per step."},
    {Condition::op, "op", "relu", "Each call of the op with this name."},
    {Condition::shape, "shape", "[64, *]", "Each result or gradient of this shape. * matches any size."},
    {Condition::step, "step", "100", "At the start of this step."},
    {Condition::line, "line", "train.lua:12", "After each op that this line calls. F9 in the editor."},
    {Condition::predicate, "Lua", "op.name == 'relu' and x:max():item() > 10",
     "Where a Lua expression is true. x is the tensor; op has name, shape, dtype, device, backward, step, "
     "file, line and module."},
};

constexpr const char* kPasses[] = {"both", "forward", "backward"};

class BreakpointsPanel final : public Panel {
 public:
  const char* title() const override { return "Breakpoints"; }
  Region region() const override { return Region::lower_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    bench.commands().add_composed(
        {"Text: breakpoint on the line", "F9", "Sets or removes a breakpoint on the caret's line.",
         [&bench] {
           const Document& text = *bench.texts().documents().active();
           if (bench.step_texts().refuses_change(text)) return;
           bench.breakpoints().toggle(SourcePlace{text.path, int(text.buffer.caret().line) + 1});
         },
         [&bench] { return bench.texts().documents().active() != nullptr; }, "Editor"});
    add_own_command(bench, "Break on NaN", kNanHelp, [&bench] { break_on_nan(bench); });
  }

  static constexpr const char* kNanHelp =
      "Pauses at the op that makes the first NaN or Inf and explains it. Slows the run down.";

  static void break_on_nan(Workbench& bench) {
    const auto list = bench.session().breakpoints();
    const bool known = std::any_of(list.begin(), list.end(),
                                   [](const Breakpoint& b) { return b.condition == Condition::not_finite; });
    if (!known) bench.breakpoints().add({});
  }

  void draw_tools(Workbench& bench) override {
    if (ImGui::Button("Break on NaN")) break_on_nan(bench);
    bench.description().add_last("breakpoints.nan", "");
    explain(kNanHelp);
  }

  void draw(Workbench& bench) override {
    draw_form(bench);
    const std::vector<Breakpoint> list = bench.session().breakpoints();
    const std::vector<BreakHit>& hits = hits_of(bench);
    ImGui::BeginChild("lists");
    if (list.empty() && hits.empty())
      draw_empty("No breakpoints",
                 "The run pauses at a breakpoint with the node selected; `it` in the console is the tensor. "
                 "Breakpoints can be changed during a run and are kept for the next.");
    if (!hits.empty()) draw_explanation(bench, hits.back());
    if (!list.empty()) draw_list(bench, list);
    if (!hits.empty()) draw_hits(bench, hits);
    ImGui::EndChild();
  }

 private:
  // Copies the session's list, which may be long, only after another hit, another state of the run, or a new
  // run.
  const std::vector<BreakHit>& hits_of(Workbench& bench) {
    const Asked now{bench.journal().stops().size(), bench.journal().state(), bench.journal().step() == 0};
    if (now != asked_) hits_ = bench.session().break_hits();
    asked_ = now;
    return hits_;
  }

  void draw_form(Workbench& bench) {
    const Form& form = kForms[form_];
    const auto fit = [&](float width) {
      ImGui::SetNextItemWidth(std::min(width, std::max(ImGui::GetContentRegionAvail().x, em(2))));
    };
    fit(em(7));
    if (ImGui::BeginCombo("##condition", form.label)) {
      for (size_t i = 0; i < std::size(kForms); ++i) {
        if (ImGui::Selectable(kForms[i].label, i == form_)) {
          form_ = i;
          text_[0] = '\0';
          problem_.clear();
        }
        bench.description().add_last("breakpoints.condition_choice", kForms[i].label);
        explain(kForms[i].help);
      }
      ImGui::EndCombo();
    }
    bench.description().add_last("breakpoints.condition", form.label);
    explain(form.help);
    bool entered = false;
    if (form.hint) {
      ImGui::SameLine();
      fit(std::max(em(7), ImGui::GetContentRegionAvail().x - em(13)));
      entered = ImGui::InputTextWithHint("##text", form.hint, text_, sizeof text_,
                                         ImGuiInputTextFlags_EnterReturnsTrue);
      bench.description().add_last("breakpoints.text", text_);
      explain(form.help);
    }
    if (form.condition != Condition::step) {
      ImGui::SameLine();
      fit(em(7.2f));
      ImGui::Combo("##pass", &pass_, kPasses, int(std::size(kPasses)));
      bench.description().add_last("breakpoints.pass", kPasses[pass_]);
      explain("Checks results, gradients, or both.");
    }
    ImGui::SameLine();
    const bool pressed = ImGui::Button("Add");
    bench.description().add_last("breakpoints.add", "");
    explain("Adds this breakpoint.");
    if (pressed || entered) add(bench, form.condition);
    if (!problem_.empty()) {
      ImGui::PushTextWrapPos(0);
      text_in(theme().bad, "%s", problem_.c_str());
      ImGui::PopTextWrapPos();
      bench.description().add_last("breakpoints.problem", problem_);
    }
  }

  void add(Workbench& bench, Condition condition) {
    Breakpoint made;
    made.condition = condition;
    made.pass = Breakpoint::Pass(pass_);
    made.text = text_;
    if (condition == Condition::norm) {
      char* end = nullptr;
      made.limit = std::strtod(text_, &end);
      if (end == text_ || *end) made.limit = -1;
    } else if (condition == Condition::step) {
      made.step = std::strtoll(text_, nullptr, 10);
      made.pass = Breakpoint::Pass::both;
    } else if (condition == Condition::line) {
      // The text is "train.lua:12", or a line number of the script.
      const std::string text = text_;
      const size_t colon = text.rfind(':');
      made.place.file = colon == text.npos ? bench.script() : text.substr(0, colon);
      // A script can be named without its folder, as panels show it.
      if (std::filesystem::path(bench.script()).filename() == made.place.file)
        made.place.file = bench.script();
      made.place.line = std::atoi(text.c_str() + (colon == text.npos ? 0 : colon + 1));
    }
    problem_ = problem_of(made);
    if (!problem_.empty() || !bench.breakpoints().add(made)) return;
    if (condition == Condition::op && !find_op(made.text) && !find_op("_" + made.text))
      problem_ = "No built-in op is called '" + made.text +
                 "': the run pauses at one of lg.custom_op, if it makes one.";
    text_[0] = '\0';
  }

  static void go_to(Workbench& bench, const BreakHit& hit) {
    bench.tape_actions().select_when_shown(hit.node);
  }

  // Explains the hit where the run is paused.
  void draw_explanation(Workbench& bench, const BreakHit& hit) {
    if (!bench.journal().at_breakpoint()) return;
    ImGui::PushTextWrapPos(0);
    text_in(
        theme().warning, "Paused in step %lld%s", static_cast<long long>(hit.step),
        hit.place.line > 0 ? (" at " + hit.place.file + ":" + std::to_string(hit.place.line)).c_str() : "");
    bench.description().add_last("breakpoints.paused", hit.place.file + ":" + std::to_string(hit.place.line) +
                                                           " step " + std::to_string(hit.step));
    if (ImGui::IsItemClicked()) go_to(bench, hit);
    explain("Click to select the node on the tape.");
    if (const std::string line = bench.step_texts().line(hit.place, hit.step); !line.empty()) {
      ImGui::PushFont(fonts().mono);
      text_in(theme().text, "%s", line.c_str());
      ImGui::PopFont();
    }
    // The first line is the fact, the middle ones the operands, the last one the likely cause.
    const std::string& text = hit.explanation;
    for (size_t from = 0; from <= text.size();) {
      const size_t end = std::min(text.find('\n', from), text.size());
      indented_text(text.substr(from, end - from));
      bench.description().add_last("breakpoints.explanation", text.substr(from, end - from));
      from = end + 1;
    }
    text_in(theme().faint, "`it` in the console is the tensor.");
    ImGui::PopTextWrapPos();
    ImGui::Separator();
  }

  static void draw_list(Workbench& bench, const std::vector<Breakpoint>& list) {
    if (!ImGui::BeginTable("breakpoints", 4, ImGuiTableFlags_SizingFixedFit)) return;
    ImGui::TableSetupColumn("on");
    ImGui::TableSetupColumn("where", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("hits");
    ImGui::TableSetupColumn("remove");
    for (const Breakpoint& one : list) {
      ImGui::PushID(int(one.id));
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      bool on = one.enabled;
      if (tick_box("##on", &on)) {
        Breakpoint changed = one;
        changed.enabled = on;
        bench.breakpoints().change(changed);
      }
      const std::string what = describe(one);
      bench.description().add_last("breakpoints.enabled", what + (on ? " on" : " off"));
      explain("Enables this breakpoint.");
      ImGui::TableNextColumn();
      ImGui::AlignTextToFramePadding();
      text_in(!one.problem.empty() ? theme().bad : on ? theme().text : theme().faint, "%s", what.c_str());
      bench.description().add_last("breakpoints.item", what);
      explain(one.problem.empty() ? what.c_str() : ("switched off: " + one.problem).c_str());
      ImGui::TableNextColumn();
      ImGui::AlignTextToFramePadding();
      const std::string hits = std::to_string(one.hits) + (one.hits == 1 ? " hit" : " hits");
      text_in(theme().muted, "%s", hits.c_str());
      bench.description().add_last("breakpoints.hits", what + ": " + hits);
      if (one.condition == Condition::line && one.hits == 0) explain("Only lines that call an op can pause.");
      ImGui::TableNextColumn();
      const bool gone = ImGui::Button("Remove");
      bench.description().add_last("breakpoints.remove", what);
      explain("Removes this breakpoint.");
      if (gone) bench.breakpoints().remove(one.id);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }

  static void draw_hits(Workbench& bench, const std::vector<BreakHit>& hits) {
    ImGui::Dummy({1, em(0.2f)});
    bold_text("Hits in this run");
    ImGuiListClipper clipper;
    clipper.Begin(int(hits.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const BreakHit& hit = hits[hits.size() - 1 - size_t(i)];
        const std::string text = "step " + std::to_string(hit.step) + ": " + hit.summary;
        ImGui::PushID(i);
        if (ImGui::Selectable(text.c_str())) go_to(bench, hit);
        bench.description().add_last("breakpoints.hit", text);
        explain(hit.explanation.c_str());
        ImGui::PopID();
      }
  }

  size_t form_ = 0;
  int pass_ = 0;
  char text_[512] = "";
  std::string problem_;
  struct Asked {
    size_t stops = 0;
    SessionState state = SessionState::idle;
    bool begun = false;
    bool operator==(const Asked&) const = default;
  } asked_;
  std::vector<BreakHit> hits_;
};

}  // namespace

std::unique_ptr<Panel> make_breakpoints_panel() { return std::make_unique<BreakpointsPanel>(); }

}  // namespace lunagrad
