// Inspector: every field of the selected node's record, the value and gradient of each of its tensors, and
// checks of the node: its gradient against finite differences, the devices against each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

#include "runtime/core/figures.h"
#include "runtime/core/op_name.h"
#include "ui/base/difference_figures.h"
#include "ui/panels/tensor_pane.h"
#include "ui/panels/why_strip.h"
#include "ui/tape/groups.h"
#include "ui/tape/op_family.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

std::string measured_text(double ns) { return ns > 0 ? duration_figure(ns) : "not measured"; }

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// "norm 3.2, 41 % zeros, 2 NaN"
std::string summary_text(const Summary& summary) {
  std::string all = "norm " + number_figure(summary.norm);
  if (summary.zeros > 0 && summary.count > 0)
    all += ", " + number_figure(100 * double(summary.zeros) / double(summary.count), 3) + " % zeros";
  if (summary.nans > 0) all += ", " + std::to_string(summary.nans) + " NaN";
  if (summary.infs > 0) all += ", " + std::to_string(summary.infs) + " Inf";
  return all;
}

// Text that may be cut off, with a tooltip of the whole.
void cut_text(ImU32 color, const std::string& text) {
  const float room = ImGui::GetContentRegionAvail().x;
  text_in(color, "%s", text.c_str());
  if (ImGui::CalcTextSize(text.c_str()).x > room) explain(text.c_str());
}

class InspectorPanel final : public Panel {
 public:
  const char* title() const override { return "Inspector"; }
  Region region() const override { return Region::lower_right; }
  std::optional<PanelStep> shown_step(const Workbench& bench) const override {
    return bench.tape().selected_node() ? step_of_tape(bench, !bench.tape().former()) : std::nullopt;
  }

  void add_commands(Workbench& bench) override {
    const auto op = [&bench] {
      const NodeInfo* const node = bench.tape().selected_node();
      return node && node->op != "leaf";
    };
    add_own_command(
        bench, kActions[0], kHelp[0], [&bench] { bench.why().ask_node(bench.tape().selected()); },
        [&bench] { return bench.tape().selected_node() != nullptr; });
    add_own_command(
        bench, kActions[1], kHelp[1], [&bench] { bench.inspection().check_gradient(); }, op);
    add_own_command(
        bench, kActions[2], kHelp[2], [&bench] { bench.inspection().compare_devices(); }, op);
    add_own_command(
        bench, kActions[3], kHelp[3], [&bench] { bench.breakpoints().toggle(*bench.tape().selected_node()); },
        op);
  }

  void draw_tools(Workbench& bench) override {
    const NodeInfo* node = bench.tape().selected_node();
    if (!node) return;
    ImGui::AlignTextToFramePadding();
    const std::string op = public_op_name(node->op);
    text_in(theme().family[size_t(op_family(node->op))], "%s", op.c_str());
    bench.description().add_last("inspector.op", op);
    const std::string step = "step " + std::to_string(bench.shown().step()) +
                             (bench.shown().live()       ? ""
                              : bench.shown().replayed() ? " (replayed)"
                                                         : " (kept)");
    ImGui::SameLine(0, em(0.6f));
    text_in(step_color(bench, bench.shown().step()), "%s", step.c_str());
    bench.description().add_last("inspector.step", step);
    explain("The step whose values are shown. The keys , and . go back and forward.");
    ImGui::SameLine(0, em(1));
    float width = ImGui::GetCursorPosX();
    for (const char* label : kActions)
      width += ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x + em(0.4f);
    acts_above_ = width <= width_;  // next to the tabs; if the row is too narrow, all buttons are below them
    if (acts_above_)
      draw_actions(bench, *node);
    else
      ImGui::NewLine();
  }

  void draw(Workbench& bench) override {
    const NodeInfo* node = bench.tape().selected_node();
    if (!node) {
      draw_empty("No node selected", "Click a node of the tape to see its value, gradient and source line.");
      return;
    }
    width_ = ImGui::GetContentRegionAvail().x;
    if (!acts_above_) draw_actions(bench, *node);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > em(36) || (room.x > em(30) && room.y > 2 * em(kLeastHeight));
    if (!beside && room.y < 2.5f * em(kLeastHeight)) {  // large text in a small window
      ImGui::BeginChild("all", {0, 0});
      if (node->place.line > 0) draw_place(bench, *node, false);
      draw_findings(bench, *node);
      draw_record(bench, *node);
      ImGui::EndChild();
      return;
    }
    const float record_width = beside ? std::floor(std::min(room.x * 0.44f, em(34))) : room.x;
    const float record_height = beside ? room.y : std::floor(room.y * 0.5f);
    ImGui::BeginChild("record", {record_width, record_height});
    if (node->place.line > 0) draw_place(bench, *node, true);
    draw_record(bench, *node);
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, em(0.9f));
    ImGui::BeginChild("value", {0, 0});
    draw_findings(bench, *node);
    ImGui::EndChild();
  }

 private:
  static constexpr float kLeastHeight = 6.5f;  // least height in em of a value or gradient with its headings
  static constexpr std::array<const char*, 4> kActions{"Why?", "Check gradient", "Compare devices",
                                                       "Break here"};
  static constexpr std::array<const char*, 4> kHelp{
      "Follows the causes of its value and gradient over the tape and the measured steps.",
      "Recomputes the node in f64 and compares its gradient with finite differences. The run is not "
      "affected.",
      "Runs the node on CPU and GPU with the same inputs and shows where the results differ.",
      "Sets or removes a breakpoint on the node's line."};

  static void row(Workbench& bench, const char* name, const std::string& value, const char* help) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    cut_text(theme().muted, name);
    explain(help);
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos(0);
    text_in(theme().text, "%s", value.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("inspector.field", std::string(name) + " = " + value);
  }

  // Draws a button after the previous one, or below it where there is no space.
  bool action(Workbench& bench, const char* label, const char* item, const char* help,
              bool lit = false) const {
    const float width = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SameLine(0, em(0.4f));
    if (!acts_above_ && ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    const bool pressed = tool_button(label, lit);
    bench.description().add_last(item, lit ? std::string(label) + " on" : label);
    explain(help);
    return pressed;
  }

  // Whether there is a breakpoint on the line of the call.
  static bool breaks(Workbench& bench, const NodeInfo& node) {
    const std::vector<Breakpoint> known = bench.session().breakpoints();
    return std::any_of(known.begin(), known.end(), [&](const Breakpoint& point) {
      return node.place.line > 0
                 ? point.condition == Breakpoint::Condition::line && point.place == node.place
                 : point.condition == Breakpoint::Condition::op && point.text == public_op_name(node.op);
    });
  }

  void draw_actions(Workbench& bench, const NodeInfo& node) const {
    if (why_button(bench, "inspector.why", kHelp[0])) bench.why().ask_node(bench.tape().selected());
    if (node.op == "leaf") return;
    if (action(bench, kActions[1], "inspector.check_gradient", kHelp[1])) bench.inspection().check_gradient();
    if (action(bench, kActions[2], "inspector.compare_devices", kHelp[2]))
      bench.inspection().compare_devices();
    if (action(bench, kActions[3], "inspector.break_here", kHelp[3], breaks(bench, node)))
      bench.breakpoints().toggle(node);
  }

  void draw_findings(Workbench& bench, const NodeInfo& node) {
    if (bench.inspection().inquiry().node() == node.id)
      draw_answers(bench, node);
    else
      draw_values(bench, node);
  }

  void draw_place(Workbench& bench, const NodeInfo& node, bool with_line) {
    // The file name distinguishes lines; the tooltip has the folders.
    const std::string place = node.place.file + ":" + std::to_string(node.place.line);
    const std::string shown = differentiates(node) + file_name(place);
    ImGui::PushStyleColor(ImGuiCol_Text, theme().accent);
    if (ImGui::Selectable(shown.c_str())) bench.texts().go_to(node.place);
    ImGui::PopStyleColor();
    bench.description().add_last("inspector.place", shown);
    explain((place + "\nThe line that made the node. Click to go there.").c_str());
    const std::string line = bench.step_texts().line_of_tape(node.place);
    if (line.empty() || !with_line) return;
    ImGui::PushFont(fonts().mono);
    ImGui::PushTextWrapPos(0);
    text_in(theme().text, "%s", line.c_str());
    bench.description().add_last("inspector.line", line);
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
  }

  // A sentence, which has the whole width: a column beside the names of fields would be too narrow.
  static void draw_doc(Workbench& bench, const NodeInfo& node) {
    const char* const doc = op_doc(node.op);
    if (!*doc) return;
    const std::string sentence = public_op_name(node.op) + ": " + doc;
    ImGui::Dummy({1, em(0.2f)});
    ImGui::PushTextWrapPos(0);
    text_in(theme().muted, "%s", sentence.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("inspector.doc", sentence);
    explain("What the operation computes.");
    ImGui::Dummy({1, em(0.2f)});
  }

  void draw_record(Workbench& bench, const NodeInfo& node) {
    if (!node.inputs.empty()) draw_operands(bench, "Inputs", "inspector.input", node.inputs, true, false);
    if (!node.outputs.empty())
      draw_operands(bench, "Outputs", "inspector.output", node.outputs, false, node.op == "leaf");
    float names = em(4.6f);  // at least; parameters of calls have longer names, as label_smoothing
    for (const auto& [name, value] : node.attributes)
      names = std::max(names, ImGui::CalcTextSize(name.c_str()).x);
    names = std::min(names, 0.6f * ImGui::GetContentRegionAvail().x);
    draw_doc(bench, node);
    if (ImGui::BeginTable("fields", 2, ImGuiTableFlags_SizingFixedFit)) {
      ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, names);
      ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
      if (!node.module.empty()) row(bench, "module", node.module, "The module that made the call.");
      if (node.no_gradient) row(bench, "gradient", "none", kNoGradient);
      if (!node.also.empty())
        row(bench, "also", joined(node.also),
            node.op == "leaf"
                ? "Further names of the parameter, which is shared."
                : "Further names of the module, which is shared. The name above is the path of this call.");
      for (const auto& [name, value] : node.attributes)
        row(bench, name.c_str(), value, "A parameter of the call. Positions count from 1, as in Lua.");
      if (node.op != "leaf") {
        row(bench, "forward", measured_text(node.forward_ns), "Time of the call itself.");
        row(bench, "backward", measured_text(node.backward_ns),
            "Time of its gradient in the latest backward pass.");
      }
      const TapeSnapshot& tape = *bench.tape().tape();
      if (const PlannedText planned = planned_text(tape.plan, size_t(bench.tape().selected()));
          !planned.brief.empty()) {
        row(bench, "plan", planned.brief,
            (planned.detail + "\nSo steps compute the call while nobody looks. " +
             plan_origin(*tape.plan.plan))
                .c_str());
        bench.description().add_last("inspector.plan", planned.detail);
      }
      if (const StepComparison* const compared = bench.step_comparing().shown())
        for (const auto& [name, words] : compared_rows(*compared, node.id))
          row(bench, ("with " + bench.step_comparing().inquiry().with()).c_str(), name + " " + words,
              ("Compared with " + compared->other +
               ". Off by: the largest difference when both compute from the values of the run. Inherited: "
               "the "
               "difference when the other side computes the whole step from its own values. Relative to the "
               "largest value.")
                  .c_str());
      if (!node.travelled.empty())
        row(bench, "ranks", node.travelled, "How its gradient was averaged over the ranks.");
      row(bench, "memory", bytes_figure(double(node.bytes)), "Memory of its outputs.");
      row(bench, "device", node.device, "Device that it ran on.");
      if (node.output_summary)
        row(bench, "output", summary_text(*node.output_summary),
            "Norm of the finite values of its first output.");
      if (node.gradient_summary)
        row(bench, "gradient", summary_text(*node.gradient_summary),
            "Norm of the gradient of its first output.");
      row(bench, "node", std::to_string(node.id), "Its id. Operands have smaller ids.");
      ImGui::EndTable();
    }
  }

  void draw_operands(Workbench& bench, const char* heading, const char* item,
                     const std::vector<OperandInfo>& operands, bool inputs, bool leaf) {
    ImGui::Dummy({1, em(0.2f)});
    bold_text(heading);
    if (!ImGui::BeginTable(heading, 2, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH))
      return;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, name_width(operands));
    ImGui::TableSetupColumn("tensor", ImGuiTableColumnFlags_WidthStretch);
    for (size_t i = 0; i < operands.size(); ++i) {
      ImGui::TableNextRow();
      ImGui::PushID(int(i));
      draw_operand(bench, item, operands[i], int(i), inputs, leaf);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }

  // Names share a column that leaves the tensors half of the width.
  static float name_width(const std::vector<OperandInfo>& operands) {
    float widest = em(2);
    for (const OperandInfo& operand : operands)
      widest = std::max(widest, ImGui::CalcTextSize(operand.name.c_str()).x);
    return std::min(widest + em(0.4f), ImGui::GetContentRegionAvail().x * 0.5f);
  }

  static void draw_operand(Workbench& bench, const char* item, const OperandInfo& operand, int i, bool inputs,
                           bool leaf) {
    ImGui::TableNextColumn();
    const std::string name = operand.name.empty() ? std::to_string(i + 1) : operand.name;
    const int maker = inputs ? bench.tape().find_node(operand.node) : -1;
    const std::string label =
        fitting_name(name, {ImGui::GetFont(), ImGui::GetFontSize()}, ImGui::GetContentRegionAvail().x);
    const std::string whole = label == name ? "" : name + ". ";
    if (maker >= 0) {
      ImGui::PushStyleColor(ImGuiCol_Text, theme().accent);
      if (ImGui::Selectable(label.c_str())) bench.tape_actions().select(maker);
      ImGui::PopStyleColor();
      explain((whole + "Made by node " + std::to_string(operand.node) + " as tensor " +
               std::to_string(operand.tensor) + ". Click to select that node.")
                  .c_str());
    } else {
      ImGui::TextUnformatted(label.c_str());
      explain((whole + (inputs ? "Tensor " + std::to_string(operand.tensor) +
                                     ", not on this tape: it needs no gradient."
                               : "Tensor " + std::to_string(operand.tensor) + "."))
                  .c_str());
    }
    if (operand.dtype.empty()) {  // an optional operand that was not given
      bench.description().add_last(item, name + " not given");
      ImGui::TableNextColumn();
      text_in(theme().faint, "not given");
      return;
    }
    bench.description().add_last(item, name + " " + shape_text(operand.shape));
    ImGui::TableNextColumn();
    const bool shown = bench.inspection().shows_input() == inputs && bench.inspection().index() == i;
    const std::string shape = shape_text(operand.shape), tensor = shape + " " + operand.dtype;
    const std::string strides = "strides " + shape_text(operand.strides);
    const auto [version, color] = version_text(operand, leaf);
    // Parts that do not fit next to each other are below each other.
    const float room = ImGui::GetContentRegionAvail().x, tensor_width = ImGui::CalcTextSize(tensor.c_str()).x;
    const bool together = is_dense(operand) && !version.empty() &&
                          tensor_width + em(0.6f) + ImGui::CalcTextSize(version.c_str()).x < room;
    if (ImGui::Selectable((tensor + "##show").c_str(), shown, 0, {together ? tensor_width : 0, 0}))
      inputs ? bench.inspection().inspect_input(i) : bench.inspection().inspect_output(i);
    bench.description().add_last("inspector.show", name + " " + shape);
    explain(("Shape and dtype, " + strides +
             ", the elements from one position of each dim to the next. Click to show its value and its "
             "gradient.")
                .c_str());
    if (!is_dense(operand)) {
      cut_text(theme().muted, strides);
      explain("Strides: the elements are not contiguous.");
      if (!version.empty() && ImGui::CalcTextSize((strides + "   " + version).c_str()).x < room)
        ImGui::SameLine(0, em(0.6f));
    }
    if (version.empty()) return;
    if (together) ImGui::SameLine(0, em(0.6f));
    cut_text(color, version);
    bench.description().add_last("inspector.saved", name + " " + version);
    explain("Saved for the gradient, with its version. If it was written to since, backward() fails.");
  }

  // Whether the tensor is contiguous.
  static bool is_dense(const OperandInfo& operand) {
    int64_t expected = 1;
    for (size_t d = operand.shape.size(); d-- > 0; expected *= operand.shape[d])
      if (operand.shape[d] > 1 && operand.strides[d] != expected) return false;
    return true;
  }

  static std::pair<std::string, ImU32> version_text(const OperandInfo& operand, bool leaf) {
    if (!operand.saved) return {"", 0};
    const std::string then = "saved, v" + std::to_string(operand.saved_version);
    // A leaf may have a newer version: an optimizer writes to it.
    if (leaf || operand.saved_version == operand.version_now) return {then, theme().muted};
    return {then + ", now v" + std::to_string(operand.version_now), theme().bad};
  }

  void draw_values(Workbench& bench, const NodeInfo& node) {
    const auto& side = bench.inspection().shows_input() ? node.inputs : node.outputs;
    if (side.empty() || size_t(bench.inspection().index()) >= side.size()) return;
    const OperandInfo& tensor = side[size_t(bench.inspection().index())];
    const bool same_kind = choice_.shape == tensor.shape;
    choice_.fit(tensor.shape);
    if (!same_kind) value_.reset(), gradient_.reset();
    const auto tiles = bench.inspection().probe().value_tiles();
    draw_slice_controls(bench, choice_, tensor.dtype, tiles && tiles->available ? tiles->tiles : 0);
    if (!bench.inspection().result().empty()) {
      cut_text(theme().muted, bench.inspection().result());
      bench.description().add_last("inspector.told", bench.inspection().result());
    }
    const std::string label = node.op == "leaf" ? tensor.name : node.op + "-" + tensor.name;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > em(36) && room.x > 1.2f * room.y;
    const float gap = em(0.6f), height = std::max({(room.y - gap) / 2, em(kLeastHeight),
                                                   value_.least_height(), gradient_.least_height()});
    const ImVec2 half = beside ? ImVec2{(room.x - gap) / 2, room.y} : ImVec2{0, height};
    const ValueProbe::Look before_value = value_.look(choice_), before_gradient = gradient_.look(choice_);
    ImGui::BeginChild("output", half);
    value_.draw(bench, choice_, label, parameter_of(bench.tape(), node, tensor));
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, gap);
    ImGui::BeginChild("gradient", beside ? ImVec2{} : half);
    gradient_.draw(bench, choice_, label);
    ImGui::EndChild();
    // Value and gradient show the same part of the same slice.
    if (!same_look(before_value, value_.look(choice_)))
      gradient_.follow(value_);
    else if (!same_look(before_gradient, gradient_.look(choice_)))
      value_.follow(gradient_);
    bench.inspection().look_at(value_.look(choice_), gradient_.look(choice_));
  }

  void draw_answers(Workbench& bench, const NodeInfo& node) {
    if (bench.inspection().inquiry().checking() || bench.inspection().inquiry().comparing()) {
      text_in(
          theme().muted, "%s",
          bench.inspection().inquiry().checking() ? "checking the gradient…" : "running on both devices…");
      bench.description().add_last("inspector.busy", "");
      if (ImGui::Button("Cancel")) bench.inspection().cancel();
      bench.description().add_last("inspector.cancel", "");
      return;
    }
    if (ImGui::Button("Back to the values")) {
      bench.inspection().close_answers();
      return;
    }
    bench.description().add_last("inspector.back", "");
    if (const auto check = bench.inspection().inquiry().gradient(node.id)) draw_check(bench, *check);
    if (const auto comparison = bench.inspection().inquiry().devices(node.id))
      draw_comparison(bench, *comparison, bench.inspection().inquiry().number());
  }

  static void reason(Workbench& bench, const std::string& what) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().warning, "%s", what.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("inspector.verdict", what);
  }

  static void draw_check(Workbench& bench, const GradientCheck& check) {
    if (!check.ran) return reason(bench, "not checked: " + check.reason);
    const std::string verdict = check.ok ? "The gradient is right" : "The gradient is wrong";
    text_in(check.ok ? theme().good : theme().bad, "%s", verdict.c_str());
    bench.description().add_last("inspector.verdict", verdict);
    ImGui::SameLine(0, em(0.6f));
    text_in(theme().muted, "f64, %.2g s, tolerance %.0e", check.seconds, check.tolerance);
    explain(
        "In double precision, by (f(x + h) - f(x - h)) / 2h with h = 1e-5 max(1, |x|), f being the sum of "
        "the outputs "
        "times fixed weights. The verdict is about the relative error: the error divided by max(1, largest "
        "difference quotient).");
    for (const GradientCheck::Input& input : check.inputs) draw_checked(bench, input);
  }

  static void draw_checked(Workbench& bench, const GradientCheck::Input& input) {
    const std::string name = input.name + " " + shape_text(input.shape),
                      verdict = input.ok ? "right" : "wrong";
    const DifferenceFigures figures = difference_figures(input.gradient, input.difference);
    // A line each: Dear ImGui breaks lines at points, also within numbers, and these are read digit by digit.
    std::string worst = "worst error " + figures.difference;
    if (!input.at.empty() || input.shape.empty())
      worst += " at " + position_text(input.at) + (input.imaginary ? " i" : "");
    std::string rest = "relative " + number_figure(input.worst, 3) + "; " + std::to_string(input.checked) +
                       " of " + std::to_string(input.count) + " checked";
    if (input.kinks > 0) rest += ", " + std::to_string(input.kinks) + " at kinks";
    const std::string lines[] = {worst + ":", "gradient " + figures.left + ",",
                                 "difference quotient " + figures.right + ";", rest};
    ImGui::Separator();
    text_in(theme().text, "%s", name.c_str());
    ImGui::SameLine(0, em(0.6f));
    text_in(input.ok ? theme().good : theme().bad, "%s", verdict.c_str());
    std::string facts;
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(0);
    for (const std::string& line : lines) {
      text_in(theme().muted, "%s", line.c_str());
      facts += (facts.empty() ? "" : " ") + line;
    }
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    if (input.kinks > 0)
      explain(
          "At a kink the slopes to both sides differ, as relu's at 0: any gradient between them is right.");
    bench.description().add_last("inspector.checked", name + " " + verdict + " " + facts);
  }

  void draw_comparison(Workbench& bench, const DeviceComparison& comparison, uint64_t revision) {
    if (!comparison.ran) return reason(bench, "not compared: " + comparison.reason);
    text_in(theme().muted, "CPU %.3g ms, %s %.3g ms", 1e3 * comparison.cpu_seconds, comparison.device.c_str(),
            1e3 * comparison.other_seconds);
    while (errors_.size() < comparison.outputs.size()) errors_.emplace_back();
    for (size_t i = 0; i < comparison.outputs.size(); ++i) {
      const DeviceComparison::Output& output = comparison.outputs[i];
      const std::string verdict = output.name + " " + shape_text(output.shape) + ": largest error " +
                                  number_figure(output.largest, 6) + ", " +
                                  number_figure(output.relative, 6) + " of the largest value; " +
                                  std::to_string(output.different) + " of " + std::to_string(output.count) +
                                  " differ";
      ImGui::PushTextWrapPos(0);
      text_in(theme().text, "%s", verdict.c_str());
      bench.description().add_last("inspector.verdict", verdict);
      if (output.largest > 0)
        text_in(theme().muted, "at %s: CPU %.9g, there %.9g", position_text(output.at).c_str(), output.cpu,
                output.other);
      ImGui::PopTextWrapPos();
      if (output.largest == 0 || output.errors.empty()) continue;
      Statistics range;
      range.max = output.largest;
      range.zeros = std::count(output.errors.begin(), output.errors.end(), 0.0);
      const HeatCells cells{output.cell_rows,
                            output.cell_columns,
                            output.cell_rows * output.cell_columns,
                            0,
                            0,
                            output.cell_rows,
                            output.cell_columns,
                            output.cell_rows,
                            output.cell_columns,
                            output.errors,
                            revision};
      ImGui::PushID(int(i));
      const float height = ImGui::GetContentRegionAvail().y / float(comparison.outputs.size() - i) -
                           3 * ImGui::GetTextLineHeight();
      errors_[i].draw("errors", cells, color_range({}, range), {ImGui::GetContentRegionAvail().x - 2, height},
                      value_colors(), [](int64_t r, int64_t c) {
                        return "cell " + position_text(std::array{r, c});
                      });
      draw_color_legend(color_range({}, range), ImGui::GetContentRegionAvail().x, value_colors());
      explain("Largest error in each cell.");
      ImGui::PopID();
    }
  }

  float width_ = 0;          // width of the panel in the last frame
  bool acts_above_ = false;  // the actions are in the row of the title
  SliceChoice choice_;
  TensorPane value_{"Value", "inspector.value", false}, gradient_{"Gradient", "inspector.gradient", true};
  std::deque<Heatmap> errors_;  // error maps, one per output
};

}  // namespace

std::unique_ptr<Panel> make_inspector_panel() { return std::make_unique<InspectorPanel>(); }

}  // namespace lunagrad
