#pragma once
// An input field for code: Enter submits, Ctrl+Enter inserts a line break, Up and Down walk through the
// history, Tab completes. Knows text, no sessions. The history can be written to a file and read again.
// Drawing thread only.
#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

// Submitted entries, oldest first. Pure data.
class EntryHistory {
 public:
  static constexpr size_t kMost = 1000;
  void add(const std::string& entry);  // a repetition of the last entry is not added
  // One step back or forward in the history; `now` is kept as the newest entry. Null: there is no further
  // one.
  const std::string* back(const std::string& now);
  const std::string* on();
  size_t size() const { return entries_.size(); }

  std::string as_text() const;         // one line per entry
  void take_text(const std::string&);  // the output of as_text

 private:
  std::vector<std::string> entries_;
  std::string draft_;
  size_t at_ = 0;  // entries_.size(): the draft
};

class Prompt {
 public:
  struct Colors {
    ImU32 text, muted, accent;
  };
  // Calls `complete` for completions of the text before the cursor; offer() delivers the answer. True:
  // entered() is new.
  bool draw(const char* hint, float width, const Colors&,
            const std::function<void(const std::string&)>& complete,
            const std::function<void(const std::string& item)>& describe = {});
  float height() const;  // of the next draw()
  const std::string& entered() const { return entered_; }
  // Whole names that can follow `before`.
  void offer(const std::string& before, std::vector<std::string> names);
  void focus() { focus_ = true; }
  const std::string& text() const { return text_; }

  EntryHistory history;

 private:
  static int callback(ImGuiInputTextCallbackData*);
  void edit(ImGuiInputTextCallbackData&);
  void draw_offers(ImVec2 corner, const Colors&, const std::function<void(const std::string&)>& describe);
  void accept(ImGuiInputTextCallbackData&, const std::string& name);

  std::string text_, entered_, before_;
  const std::function<void(const std::string&)>* complete_ = nullptr;
  std::vector<std::string> offers_;
  size_t chosen_ = 0, typed_ = 0;  // typed_: bytes of the name that are typed already
  bool open_ = false, answered_ = false, focus_ = false;
  bool on_first_ = true, on_last_ = true;  // where the cursor was before this frame's keys
  int clicked_ = -1;
};

}  // namespace lunagrad
