#pragma once
// A text that is being edited: its lines, a caret, a selection, and undo. Lines are bytes, normally UTF-8;
// invalid bytes are kept. Needs no window and no file. One thread.
#include <compare>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

// Line and byte from 0; the byte starts a character or is the end of the line.
struct TextPosition {
  int line = 0, column = 0;
  auto operator<=>(const TextPosition&) const = default;
};

struct TextRange {
  TextPosition begin, end;
  bool empty() const { return begin == end; }
  bool operator==(const TextRange&) const = default;
};

class TextBuffer {
 public:
  TextBuffer() : lines_(1) {}
  explicit TextBuffer(std::string_view content) { load(content); }

  // Replaces the whole text and clears the undo history. A file whose lines all end in CRLF keeps these line
  // ends.
  void load(std::string_view content);
  // Like load(), but as one edit that can be undone; the caret stays on its line.
  void reload(std::string_view content);
  std::string content() const;  // the text for the file
  bool crlf() const { return crlf_; }
  // One level of indentation in the text as it was loaded: a tab, or spaces.
  std::string indent_unit() const;

  int line_count() const { return int(lines_.size()); }
  const std::string& line(int i) const { return lines_[size_t(i)]; }
  TextPosition end() const { return {line_count() - 1, int(lines_.back().size())}; }
  TextPosition clamp(TextPosition) const;  // the nearest valid position
  std::string text(TextRange) const;

  uint64_t revision() const { return revision_; }  // grows with each change
  // The first line that changed since the last call; line_count() if no line did.
  int take_changed();
  // Identifies the present content; undo restores an earlier number.
  uint64_t state() const { return state_; }

  TextPosition caret() const { return caret_; }
  TextPosition anchor() const { return anchor_; }
  bool has_selection() const { return caret_ != anchor_; }
  TextRange selection() const;
  void set_caret(TextPosition, bool select = false);
  void select(TextRange range) { select(range.begin, range.end); }
  void select(TextPosition anchor, TextPosition caret);

  // Replaces the selection and puts the caret after the new text. Consecutive typing is undone together.
  void type(std::string_view text);
  void erase(TextRange);
  // Replaces a range; a caret after the range moves along. Returns the end of the new text.
  TextPosition replace(TextRange, std::string_view text);

  // While it exists, all edits are one undo step.
  class Step {
   public:
    explicit Step(TextBuffer& buffer) : buffer_(buffer) { buffer_.begin_step(); }
    ~Step() { buffer_.end_step(); }
    Step(const Step&) = delete;

   private:
    TextBuffer& buffer_;
  };
  bool undo();  // returns false when there is nothing to undo
  bool redo();

 private:
  enum class Kind { other, typing, erasing };
  struct Edit {
    TextPosition begin;
    std::string removed, inserted;
  };
  struct Done {
    std::vector<Edit> edits;
    TextPosition caret_before, anchor_before, caret_after, anchor_after;
    uint64_t state_before, state_after;
    size_t bytes;
    Kind kind;
  };
  void begin_step(Kind = Kind::other);
  void end_step();
  bool continues(Kind, TextRange, std::string_view text) const;
  TextPosition put(TextRange, std::string_view text);

  std::vector<std::string> lines_;
  bool crlf_ = false;
  std::string unit_;
  TextPosition caret_, anchor_;
  uint64_t revision_ = 1, state_ = 1, last_state_ = 1;
  int changed_ = 0;
  std::deque<Done> undo_, redo_;
  size_t undo_bytes_ = 0;
  int open_steps_ = 0;
  bool joins_ = false;  // the next edit may join the last step
};

}  // namespace lunagrad
