#pragma once
// Items of a context menu that change the running model through lg.surgery, and the field that completes the
// Lua line of those that need a value. The line is evaluated in the script as a line of the console, so the
// console shows it. Owns the text of the field. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class ChangeMenu {
 public:
  // Items for the module or the tensor at `path`, as the tape or the model names it, in a popup that is open.
  void draw_items(Workbench&, const std::string& path, bool tensor);
  // Asks for the value of one element of a tensor; `position` is its index in Lua's syntax, "[2, 1]".
  void ask_element(const std::string& path, const std::string& position, const std::string& value);
  // The field, while an item asks for a value. Once a frame, in the window of the menu.
  void draw_field(Workbench&);

 private:
  // The line is before + the text of the field + after.
  void ask(std::string title, std::string before, const std::string& text, std::string after,
           std::string hint);

  std::string title_, before_, after_, hint_;
  char text_[512] = "";
  bool opens_ = false;
  bool fresh_ = false;  // the field has not had the focus yet
};

// The parameter of the running model that an operand of a node is, by its name; "" for any other operand.
std::string parameter_of(const TapeModel&, const NodeInfo&, const OperandInfo&);

}  // namespace lunagrad
