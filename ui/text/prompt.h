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
  // entry.
  const std::string* back(const std::string& now);
  const std::string* on();
  size_t size() const { return entries_.size(); }

  std::string as_text() const;         // one line per entry
  void take_text(const std::string&);  // reads the output of as_text

 private:
  std::vector<std::string> entries_;
  std::string draft_;
  size_t at_ = 0;  // index of the entry in the field; entries_.size(): the draft
};

class Prompt {
 public:
  struct Colors {
    ImU32 text, muted, accent;
  };
  // Calls `complete` for completions of the text before the cursor; offer() delivers the answer. Returns true
  // when entered() has a new entry.
  bool draw(const char* hint, float width, const Colors&,
            const std::function<void(const std::string&)>& complete,
            const std::function<void(const std::string& item)>& describe = {});
  float height() const;  // height that the next draw() will have
  const std::string& entered() const { return entered_; }
  // Offers whole names that can follow `before`.
  void offer(const std::string& before, std::vector<std::string> names);
  void focus() { focus_ = true; }
  const std::string& text() const { return text_; }

  EntryHistory history;

 private:
  static int callback(ImGuiInputTextCallbackData*);
  void edit(ImGuiInputTextCallbackData&);
  void draw_offers(ImVec2 corner, const Colors&, const std::function<void(const std::string&)>& describe);
  void accept(ImGuiInputTextCallbackData&, const std::string& name);
  void submit(ImGuiInputTextCallbackData&);

  std::string text_, entered_, before_;
  const std::function<void(const std::string&)>* complete_ = nullptr;
  std::vector<std::string> offers_;
  size_t chosen_ = 0, typed_ = 0;  // typed_: bytes of the name that are typed already
  bool open_ = false, answered_ = false, focus_ = false;
  bool waits_ = false;                       // Tab asked for names, and the answer may still arrive
  bool entering_ = false, escaped_ = false;  // keys of this frame that the field handles itself
  bool submitted_ = false;
  bool on_first_ = true, on_last_ = true;  // the cursor was on the first, last line before this frame's keys
  int clicked_ = -1;
};

}  // namespace lunagrad
