#pragma once
// What a frame shows, as data: each item has a stable name, a text and a rectangle. A drive finds, clicks and
// checks items by name, and a screen reader can read them. It is filled in each frame, only if enabled.
// Drawing thread only.
#include <imgui.h>

#include <string>
#include <vector>

namespace lunagrad {

class Description {
 public:
  struct Item {
    std::string name;  // "tape.node"
    std::string text;  // "matmul [64, 10]"
    ImVec2 min, max;
  };

  void enable() { enabled_ = true; }
  bool enabled() const { return enabled_; }
  void clear() { items_.clear(); }
  void add(const char* name, std::string text, ImVec2 min, ImVec2 max) {
    if (enabled_) items_.push_back({name, std::move(text), min, max});
  }
  // Adds an item with the rectangle of the last item that Dear ImGui drew.
  void add_last(const char* name, std::string text) {
    if (enabled_) add(name, std::move(text), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  }
  const std::vector<Item>& items() const { return items_; }

 private:
  bool enabled_ = false;
  std::vector<Item> items_;
};

}  // namespace lunagrad
