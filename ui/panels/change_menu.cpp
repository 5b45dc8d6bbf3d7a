#include "ui/panels/change_menu.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "script/parts/names.h"
#include "ui/window/field_focus.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

// The text as a Lua string.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string call(const char* function, const std::string& path) {
  return "lg.surgery." + std::string(function) + "(" + quoted(path);
}

constexpr ChangeItem kItems[] = {
    {ChangeItem::replace, "Replace...", "Puts another module in its place.", false},
    {ChangeItem::insert_before, "Insert before...", "Puts a module in front of it.", false},
    {ChangeItem::insert_after, "Insert after...", "Puts a module behind it.", false},
    {ChangeItem::remove, "Remove", "Takes it out; its output must have the shape of its input.", false},
    {ChangeItem::freeze, "Freeze", "It is not trained any more.", true},
    {ChangeItem::unfreeze, "Unfreeze", "It is trained again.", true},
    {ChangeItem::reinit, "Re-initialise", "Gives its parameters new initial values, as its layers do.", true},
    {ChangeItem::reinit_by, "Re-initialise by...", "Fills its parameters by a function of lg.nn.init.", true},
    {ChangeItem::rescale, "Rescale...", "Multiplies its parameters.", true},
    {ChangeItem::optimizer, "Optimizer...", "Changes a setting of its group, or a state of its parameters.",
     true},
};

}  // namespace

std::span<const ChangeItem> change_items() {
  return is_left_out("lg.surgery") ? std::span<const ChangeItem>() : std::span<const ChangeItem>(kItems);
}

void ChangeMenu::draw_items(Workbench& bench, const std::string& path, bool tensor) {
  if (change_items().empty()) return;
  ImGui::Separator();
  text_in(theme().muted, "Change %s", path.c_str());
  bench.description().add_last("change.path", path);
  for (const ChangeItem& item : change_items()) {
    if (tensor && !item.of_tensors) continue;
    const bool chosen = ImGui::MenuItem(item.label);
    bench.description().add_last("change.item", item.label);
    explain(item.help);
    if (chosen) begin(bench, item.kind, path);
  }
}

void ChangeMenu::begin(Workbench& bench, ChangeItem::Kind kind, const std::string& path) {
  switch (kind) {
    case ChangeItem::replace:
      return ask("Replace " + path, call("replace", path) + ", ", "lg.nn.", ")",
                 "the new module, as lg.nn.Linear(64, 10)");
    case ChangeItem::insert_before:
      return ask("Insert before " + path, call("insert", path) + ", ", "lg.nn.", ", \"before\")",
                 "the new module, which keeps the shape");
    case ChangeItem::insert_after:
      return ask("Insert after " + path, call("insert", path) + ", ", "lg.nn.", ", \"after\")",
                 "the new module, which keeps the shape");
    case ChangeItem::remove:
      return evaluate(bench, call("remove", path) + ")");
    case ChangeItem::freeze:
      return evaluate(bench, call("freeze", path) + ")");
    case ChangeItem::unfreeze:
      return evaluate(bench, call("unfreeze", path) + ")");
    case ChangeItem::reinit:
      return evaluate(bench, call("reinit", path) + ")");
    case ChangeItem::reinit_by:
      return ask("Re-initialise " + path, call("reinit", path) + ", \"", "xavier_uniform_", "\")",
                 "a name of lg.nn.init");
    case ChangeItem::rescale:
      return ask("Rescale " + path, call("rescale", path) + ", ", "0.5", ")", "the factor");
    case ChangeItem::optimizer:
      return ask("Optimizer of " + path, "lg.surgery.optimizer(",
                 "\"optimizer\", " + quoted(path) + ", \"lr\", 0.001", ")",
                 "optimizer, parameters, the name of a setting or state, its value");
  }
}

void ChangeMenu::evaluate(Workbench& bench, const std::string& line) const {
  bench.control().evaluate(line);
  const PanelLayout& layout = bench.settings().layout;
  if (layout.front[size_t(layout.region_of("History"))] != "History")
    bench.shell().raise_panel("Console", panel_);
}

void ChangeMenu::ask_element(const std::string& path, const std::string& position, const std::string& value) {
  std::string index = position;
  std::replace(index.begin(), index.end(), '[', '{');
  std::replace(index.begin(), index.end(), ']', '}');
  ask("Edit " + path + position, call("edit", path) + ", " + index + ", ", value, ")", "the new value");
}

void ChangeMenu::ask(std::string title, std::string before, const std::string& text, std::string after,
                     std::string hint) {
  title_ = std::move(title);
  before_ = std::move(before);
  after_ = std::move(after);
  hint_ = std::move(hint);
  std::snprintf(text_, sizeof text_, "%s", text.c_str());
  opens_ = fresh_ = true;
}

void ChangeMenu::draw_field(Workbench& bench) {
  if (std::exchange(opens_, false)) ImGui::OpenPopup("change");
  if (!ImGui::BeginPopup("change")) return;
  ImGui::TextUnformatted(title_.c_str());
  bench.description().add_last("change.title", title_);
  if (ImGui::IsWindowAppearing()) focus_next_field();
  ImGui::SetNextItemWidth(em(22));
  // When the field opens, a value is selected, or the caret is after the start of a name.
  const auto begin = [](ImGuiInputTextCallbackData* field) {
    if (!std::exchange(*static_cast<bool*>(field->UserData), false)) return 0;
    field->CursorPos = field->BufTextLen;
    field->ClearSelection();
    if (field->BufTextLen > 0 && field->Buf[field->BufTextLen - 1] != '.') field->SelectAll();
    return 0;
  };
  ImGui::InputTextWithHint("##text", hint_.c_str(), text_, sizeof text_, ImGuiInputTextFlags_CallbackAlways,
                           begin, &fresh_);
  const bool entered = ImGui::IsItemDeactivated() &&
                       (key_pressed(GLFW_KEY_ENTER, false) || key_pressed(GLFW_KEY_KP_ENTER, false));
  bench.description().add_last("change.field", text_);
  if (ImGui::IsItemActive() && !fresh_) bench.description().add_last("change.typing", text_);
  explain((hint_ + ". Enter applies it.").c_str());
  const std::string line = before_ + text_ + after_;
  ImGui::PushTextWrapPos(em(24));
  text_in(theme().muted, "%s", line.c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last("change.line", line);
  explain("The line that runs in the script. The console shows it and its errors; History undoes it.");
  const bool pressed = ImGui::Button("Apply");
  bench.description().add_last("change.apply", "");
  if (entered || pressed) {
    evaluate(bench, line);
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

std::string parameter_of(const TapeModel& model, const NodeInfo& node, const OperandInfo& operand) {
  if (node.op == "leaf") return operand.name;
  const int made_by = operand.node == 0 ? -1 : model.find_node(operand.node);
  if (made_by < 0) return {};
  const NodeInfo& maker = model.tape()->nodes[size_t(made_by)];
  return maker.op == "leaf" && !maker.outputs.empty() ? maker.outputs[0].name : std::string();
}

}  // namespace lunagrad
