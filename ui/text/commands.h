#pragma once
// The editing commands of a Lua editor on a TextBuffer: moving, deleting, indenting, commenting. Each is one
// undo step. One thread.
#include <string>
#include <string_view>

#include "ui/text/buffer.h"
#include "ui/text/lua_highlight.h"

namespace lunagrad {

constexpr int kTabWidth = 4;  // columns between tab stops

enum class Motion { left, right, word_left, word_right, line_start, line_end, up, down, begin, end };

// The target of a motion from `from`; up and down move by `lines` lines and keep screen column `wanted`.
TextPosition moved_by(const TextBuffer&, TextPosition from, Motion, int wanted = 0, int lines = 1);
// screen_column(): the screen column of a position, with tabs expanded. Its inverse: the position nearest to
// a screen column.
int screen_column(std::string_view line, int column);
int column_at(std::string_view line, int screen_column);
TextRange word_at(const TextBuffer&, TextPosition);
// The dotted path of names around a position, up to the end of the name there: "nn.functional.relu", "x:sum".
std::string path_at(const TextBuffer&, TextPosition);

void erase_by(TextBuffer&, Motion);  // erases the selection, or without one up to the motion's target
void new_line(TextBuffer&, LuaHighlight&);
// After a letter was typed: moves "end", "else", "until" and "}" out to the indent of the block that they
// close.
void outdent_closing(TextBuffer&, LuaHighlight&);
void indent(TextBuffer&);  // indents the selected lines; without a selection, inserts up to the next stop
void unindent(TextBuffer&);
void toggle_comment(TextBuffer&);  // comments the selected lines, or removes the comment marks
void duplicate(TextBuffer&);       // duplicates the selection, or the line
void move_lines(TextBuffer&, int by);
void delete_lines(TextBuffer&);

}  // namespace lunagrad
