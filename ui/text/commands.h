#pragma once
// What the keys of an editor of Lua do to a TextBuffer: moving, erasing, indenting, commenting. Each is one
// step of undo.
#include <string>
#include <string_view>

#include "ui/text/buffer.h"
#include "ui/text/lua_highlight.h"

namespace lunagrad {

constexpr int kTabWidth = 4;  // columns from one tab stop to the next

enum class Motion { left, right, word_left, word_right, line_start, line_end, up, down, begin, end };

// Where a motion leads from `from`; up and down go `lines` lines and keep to column `wanted` of the screen.
TextPosition moved_by(const TextBuffer&, TextPosition from, Motion, int wanted = 0, int lines = 1);
// The column of the screen at which a position is drawn, with tabs; and the position nearest to one.
int screen_column(std::string_view line, int column);
int column_at(std::string_view line, int screen_column);
TextRange word_at(const TextBuffer&, TextPosition);
// The dotted path of names around a position: "nn.functional.relu", "x:sum" up to the end of the name there.
std::string path_at(const TextBuffer&, TextPosition);

void erase_by(TextBuffer&, Motion);  // what is selected, or else up to where the motion leads
void new_line(TextBuffer&, LuaHighlight&);
// After a letter was typed: "end", "else", "until" and "}" move out to the block that they close.
void outdent_closing(TextBuffer&, LuaHighlight&);
void indent(TextBuffer&);  // the lines selected; without a selection, to the next stop
void unindent(TextBuffer&);
void toggle_comment(TextBuffer&);  // of the lines selected
void duplicate(TextBuffer&);       // what is selected, or the line
void move_lines(TextBuffer&, int by);
void delete_lines(TextBuffer&);

}  // namespace lunagrad
