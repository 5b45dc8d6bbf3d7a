#pragma once
// Splits Lua's lines into words, strings and comments (the manual's section 3.1). A line is split with the
// state at its start, so that only visible lines need to be split. One thread.
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

// The state at the start of a line. 0: nothing is open; 1 and 2: a ' or " string that the previous line
// continues with a backslash; 4 + 2 n: a long string with n equals signs; 5 + 2 n: a long comment with n
// equals signs.
using LuaOpen = uint32_t;

// Appends the tokens of a line, without spaces, and returns the state at its end.
LuaOpen lua_tokens(std::string_view line, LuaOpen, std::vector<LuaToken>& tokens);
bool is_lua_keyword(std::string_view);

// The state at the start of each line of one buffer, computed up to the last requested line.
class LuaHighlight {
 public:
  LuaOpen open_at(TextBuffer&, int line);
  const std::vector<LuaToken>& tokens(TextBuffer&, int line);  // valid until the next call

  // The bracket at or before the caret, and its partner; an empty range if there is none. Ignores strings and
  // comments.
  struct Pair {
    TextRange first, second;
    bool found = false;  // there is a bracket; without a partner `second` is empty
  };
  Pair brackets(TextBuffer&, TextPosition caret);

 private:
  std::vector<LuaOpen> open_{0};  // states of the lines known so far
  std::vector<LuaToken> tokens_;
};

}  // namespace lunagrad
