#pragma once
// A Lua text in an editor: syntax colours, line numbers, columns of figures that the caller fills, caret,
// selection, mouse and keys. Draws only the visible lines. Knows a TextBuffer and Dear ImGui, no files and no
// sessions. Drawing thread only.
#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

#include "ui/text/buffer.h"
#include "ui/text/lua_highlight.h"
#include "ui/text/search.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

class CodeEditor {
 public:
  // An error: the line is underlined and marked in the margin; the message is a tooltip.
  struct Mark {
    int line = -1;
    std::string message;
  };
  struct Column {
    std::string heading, help;
  };
  // Additions to the text. Lines count from 0.
  struct Look {
    std::vector<Mark> errors;
    std::vector<Column> columns;
    std::function<std::string(int line, size_t column)> cell;  // text of a cell, "" for none
    std::function<float(int line)> heat;                       // 0 to 1: a bar in the first cell
    int marked = -1;       // the line of the node that is selected in another panel
    int paused_line = -1;  // the line where a paused script continues
    const TextSearch* search = nullptr;
    int current_match = -1;
    bool read_only = false;
    bool popup = false;  // a popup is open at the caret: it gets Up, Down, Enter, Tab and Escape
    std::function<void(int line, ImVec2 min, ImVec2 max)> on_visible;
  };
  struct Result {
    bool edited = false, typed = false;  // typed: the edit was a letter at the caret
    bool refused = false;                // a key would have changed a read-only text
    bool moved = false;                  // the caret moved
    bool wants_completion = false;       // Ctrl+Space
    bool wants_probe = false;            // the menu's item for a probe at the caret's line was chosen
    int gutter_hovered = -1;             // the line whose number or cells are under the mouse
    int column_hovered = -1;             // the column whose heading is under the mouse
    std::string path_hovered;            // the mouse rests on this name
    ScreenArea hovered{};                // of these numbers, cells, heading or name
    ImVec2 caret_below{0, 0};            // position for a popup at the caret
    float line_height = 0;
  };

  Result draw(const char* id, TextBuffer&, ImVec2 size, const Look&);
  void reveal(int line) { reveal_ = line; }  // scrolls to the line in the next frame, if it is not visible
  void follow_caret() { follow_ = true; }
  void take_focus() { take_focus_ = true; }
  bool focused() const { return focused_; }
  LuaHighlight& highlight() { return highlight_; }

 private:
  // A line prepared for drawing: its visible characters, and the position of each byte of the text in them.
  struct Drawn {
    std::string shown;
    std::vector<int> offset;  // position in `shown` of each byte
    std::vector<float> x;     // pixels from the line's start
  };
  struct Measures {
    ImVec2 at;                              // screen position of the window's content
    float line = 0, advance = 0, text = 0;  // text: x of the lines' start, from the window's left
    float number = 0;                       // right edge of the line numbers
    float right = 0;                        // right edge of the text, where the columns begin
    size_t columns = 0;                     // the number of columns for which there is room
    int first = 0, last = 0;                // visible lines
  };
  void cut(const std::string& line, Drawn&) const;
  void measure(const TextBuffer&, const Look&, ImVec2 origin, float width);
  void draw_headings(const Look&, Result&);
  void draw_numbers(const TextBuffer&, const Look&, Result&);
  void draw_cells(const TextBuffer&, const Look&, Result&);
  void draw_stripes(const TextBuffer&, const Look&, float from, float to) const;
  void draw_line(TextBuffer&, const Look&, int line, ImDrawList*);
  void draw_text(TextBuffer&, const Look&);
  void underline(ImDrawList*, const Drawn&, const std::string& line, ImVec2 at) const;
  void handle_mouse(TextBuffer&, Result&, bool hovered, bool active);
  void handle_keys(TextBuffer&, const Look&, Result&);
  void handle_control_keys(TextBuffer&, const Look&, Result&);
  void type_characters(TextBuffer&, const Look&, Result&);
  void draw_menu(TextBuffer&, const Look&, Result&);
  void scroll_to_what_matters(const TextBuffer&);
  TextPosition position_at(const TextBuffer&, ImVec2 mouse) const;
  bool beside_text(float x) const;  // over the numbers or the columns
  void move(TextBuffer&, TextPosition to, bool select);

  LuaHighlight highlight_;
  LuaHighlight::Pair pair_;
  Measures m_;
  std::vector<float> widths_;  // width of each column: the largest so far
  std::vector<std::string> headings_;
  bool headed_ = false;  // there have been columns: the row of their headings stays, so that no line moves
  float longest_ = 0;
  uint64_t measured_ = 0;
  int wanted_column_ = -1;  // screen column that is kept while moving up and down
  int reveal_ = -1;
  bool follow_ = false, take_focus_ = false, focused_ = false;
  ImVec2 rest_{-1, -1};  // position of the resting mouse, and the time since when it rests
  double rest_since_ = 0;
};

// Copy and paste; without a selection they apply to the whole line.
void copy_selection(const TextBuffer&);
void cut_selection(TextBuffer&);
void paste_clipboard(TextBuffer&);

}  // namespace lunagrad
