#pragma once
// A list at the caret from which the user takes one entry, by keys or mouse, while the keyboard focus stays
// in the text. Knows texts only. Drawing thread only.
#include <imgui.h>

#include <functional>
#include <string>

namespace lunagrad {

class ChoicePopup {
 public:
  struct Choice {
    const std::string &name, &detail, &help;
  };
  // Reads Up, Down, Enter, Tab, Escape. Returns the index of the chosen entry, -1 for none, -2 to close.
  int take_keys(int count);
  // Draws the list below `at`, or above when there is no space. Returns the same as take_keys(). `on_row`
  // gets each visible row.
  int draw(int count, const std::function<Choice(int)>&, ImVec2 at, float line_height,
           const std::function<void(int, ImVec2 min, ImVec2 max)>& on_row = {});
  void restart() { chosen_ = first_ = 0; }

 private:
  int chosen_ = 0, first_ = 0;  // first_: the first visible row
};

}  // namespace lunagrad
