#pragma once
// Items of a context menu that change the running model through lg.surgery, and a field to complete the Lua
// line of an item that needs a value. The line is evaluated as a line of the console, so the console shows
// it. Owns the text of the field. Drawing thread only.
#include <span>
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// An item of the menu.
struct ChangeItem {
  enum Kind {
    replace,
    insert_before,
    insert_after,
    remove,
    freeze,
    unfreeze,
    reinit,
    reinit_by,
    rescale,
    optimizer
  } kind;
  const char *label, *help;
  bool of_tensors;  // also of a single tensor, not only of a module
};
std::span<const ChangeItem> change_items();  // none in a build without lg.surgery

class ChangeMenu {
 public:
  explicit ChangeMenu(const char* panel) : panel_(panel) {}  // the panel with the menu
  // Does what the item says for the module or the tensor at `path`, or asks for the value that it needs.
  void begin(Workbench&, ChangeItem::Kind, const std::string& path);
  // Draws the items for the module or the tensor at `path` into an open popup; the tape or the model gives
  // the path.
  void draw_items(Workbench&, const std::string& path, bool tensor);
  // Asks for the value of one element of a tensor; `position` is its index in Lua's syntax, "[2, 1]".
  void ask_element(const std::string& path, const std::string& position, const std::string& value);
  // Draws the field while an item asks for a value. Once a frame, in the window of the menu.
  void draw_field(Workbench&);

 private:
  // The Lua line is before + the text of the field + after.
  void ask(std::string title, std::string before, const std::string& text, std::string after,
           std::string hint);

  // Runs the line. The console comes to the front of its region, since it shows the change and its errors:
  // not over the menu's own panel, and not while History shows the change.
  void evaluate(Workbench&, const std::string& line) const;

  const char* const panel_;
  std::string title_, before_, after_, hint_;
  char text_[512] = "";
  bool opens_ = false;
  bool fresh_ = false;  // the field has not had the focus yet
};

// The name of the running model's parameter that is this operand of the node; "" for any other operand.
std::string parameter_of(const TapeModel&, const NodeInfo&, const OperandInfo&);

}  // namespace lunagrad
