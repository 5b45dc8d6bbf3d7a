#pragma once
// A field for lines of code: Enter hands them over, Ctrl+Enter begins another line, Up and Down go through
// what was entered before, Tab asks for completions and chooses among them. Knows text, nothing of sessions.
// The history can be written to a file and read again.
#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

// What was entered, oldest first. Pure data.
class EntryHistory {
 public:
  static constexpr size_t kMost = 1000;
  void add(const std::string& entry);  // one that repeats the last is not added
  // One step back or on from where it stands; `now` is kept as the newest. Empty: there is no other.
  const std::string* back(const std::string& now);
  const std::string* on();
  size_t size() const { return entries_.size(); }

  std::string as_text() const;         // a line each
  void take_text(const std::string&);  // what as_text gave

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
  // `complete` is asked for what may follow the text before the cursor; offer() brings the answer. True:
  // entered().
  bool draw(const char* hint, float width, const Colors&,
            const std::function<void(const std::string&)>& complete,
            const std::function<void(const std::string& item)>& describe = {});
  float height() const;  // of the next draw()
  const std::string& entered() const { return entered_; }
  // Whole names that may follow `before`.
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
  size_t chosen_ = 0, typed_ = 0;  // typed_: bytes of the name that stand there already
  bool open_ = false, answered_ = false, focus_ = false;
  bool on_first_ = true, on_last_ = true;  // where the cursor was before this frame's keys
  int clicked_ = -1;
};

}  // namespace lunagrad
