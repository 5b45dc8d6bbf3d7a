#pragma once
// Which parts of Lua's lines are words, strings and comments (the manual's section 3.1). A line is looked at
// with what is open when it begins, so that only the lines that are shown are cut up. One thread.
#include <cstdint>
#include <string_view>
#include <vector>

#include "ui/text/buffer.h"

namespace lunagrad {

enum class LuaPart { space, name, keyword, number, string, comment, sign, fault };

struct LuaToken {
  int begin, end;  // bytes of the line
  LuaPart part;
};

// What is open at the start of a line: 0 nothing, 1 a string that the line before ended with a backslash in '
// and 2 in ", 4 + 2 n a long string with n equals signs, 5 + 2 n such a comment.
using LuaOpen = uint32_t;

// Appends the tokens of a line, spaces left out, and returns what is open at its end.
LuaOpen lua_tokens(std::string_view line, LuaOpen, std::vector<LuaToken>& tokens);
bool is_lua_keyword(std::string_view);

// What is open at the start of each line of one buffer, worked out as far as asked for.
class LuaHighlight {
 public:
  LuaOpen open_at(TextBuffer&, int line);
  const std::vector<LuaToken>& tokens(TextBuffer&, int line);  // valid until the next call

  // The bracket at the caret, or before it, and its partner; an empty range for none. Strings and comments
  // are passed over.
  struct Pair {
    TextRange first, second;
    bool found = false;  // there is a bracket; without a partner `second` is empty
  };
  Pair brackets(TextBuffer&, TextPosition caret);

 private:
  std::vector<LuaOpen> open_{0};  // of the lines known
  std::vector<LuaToken> tokens_;
};

}  // namespace lunagrad
