#include "ui/panels/change_menu.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "script/parts/names.h"
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

}  // namespace

void ChangeMenu::draw_items(Workbench& bench, const std::string& path, bool tensor) {
  if (is_left_out("lg.surgery")) return;
  ImGui::Separator();
  text_in(theme().muted, "Change %s", path.c_str());
  bench.description().add_last("change.path", path);
  const auto item = [&](const char* label, const char* help) {
    const bool chosen = ImGui::MenuItem(label);
    bench.description().add_last("change.item", label);
    explain(help);
    return chosen;
  };
  if (!tensor) {
    if (item("Replace...", "Puts another module in its place."))
      ask("Replace " + path, call("replace", path) + ", ", "lg.nn.", ")",
          "the new module, as lg.nn.Linear(64, 10)");
    if (item("Insert before...", "Puts a module in front of it."))
      ask("Insert before " + path, call("insert", path) + ", ", "lg.nn.", ", \"before\")",
          "the new module, which keeps the shape");
    if (item("Insert after...", "Puts a module behind it."))
      ask("Insert after " + path, call("insert", path) + ", ", "lg.nn.", ", \"after\")",
          "the new module, which keeps the shape");
    if (item("Remove", "Takes it out; its output must have the shape of its input."))
      bench.control().evaluate(call("remove", path) + ")");
  }
  if (item("Freeze", "It is not trained any more.")) bench.control().evaluate(call("freeze", path) + ")");
  if (item("Unfreeze", "It is trained again.")) bench.control().evaluate(call("unfreeze", path) + ")");
  if (item("Re-initialise", "Gives its parameters new initial values, as its layers do."))
    bench.control().evaluate(call("reinit", path) + ")");
  if (item("Re-initialise by...", "Fills its parameters by a function of lg.nn.init."))
    ask("Re-initialise " + path, call("reinit", path) + ", \"", "xavier_uniform_", "\")",
        "a name of lg.nn.init");
  if (item("Rescale...", "Multiplies its parameters."))
    ask("Rescale " + path, call("rescale", path) + ", ", "0.5", ")", "the factor");
  if (item("Optimizer...", "Changes a setting of its group, or a state of its parameters."))
    ask("Optimizer of " + path, "lg.surgery.optimizer(", "\"optimizer\", " + quoted(path) + ", \"lr\", 0.001",
        ")", "optimizer, parameters, the name of a setting or state, its value");
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
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
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
    bench.control().evaluate(line);
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
