#include <doctest/doctest.h>

#include "ui/text/lua_highlight.h"

using namespace lunagrad;

namespace {

// The tokens of a line, each with the initial of its kind: "k:local n:x s:=".
std::string parts(const std::string& line, LuaOpen open = 0, LuaOpen* after = nullptr) {
  std::vector<LuaToken> tokens;
  const LuaOpen end = lua_tokens(line, open, tokens);
  if (after) *after = end;
  std::string text;
  for (const LuaToken& token : tokens)
    text += std::string(text.empty() ? "" : " ") + " nk#\"-.!"[size_t(token.part)] +
            line.substr(size_t(token.begin), size_t(token.end - token.begin));
  return text;
}

}  // namespace

TEST_CASE("a line is split into words, numbers, strings and comments") {
  CHECK(parts("local x = 0x1p-4 -- done") == "klocal nx .= #0x1p-4 --- done");
  CHECK(parts("a..'b'..1e-3..2") == "na ... \"'b' ... #1e-3 ... #2");
  CHECK(parts("x = \"a\\\"b\" + ends") == "nx .= \"\"a\\\"b\" .+ nends");
  CHECK(parts("'open") == "!'open");
  CHECK(parts("a $ b") == "na !$ nb");
  CHECK(parts("t[[[x]]]") == "nt \"[[[x]] .]");
}

TEST_CASE("long strings, long comments and continued strings span lines") {
  LuaOpen open = 0;
  CHECK(parts("x = [==[ a ]]", 0, &open) == "nx .= \"[==[ a ]]");
  CHECK(open == 8);
  CHECK(parts("b ]=] ]==] .. y", open, &open) == "\"b ]=] ]==] ... ny");
  CHECK(open == 0);
  CHECK(parts("--[[ note", 0, &open) == "---[[ note");
  CHECK(open == 5);
  CHECK(parts("end]] end", open, &open) == "-end]] kend");
  CHECK(parts("s = 'a\\", 0, &open) == "ns .= \"'a\\");
  CHECK(open == 1);
  CHECK(parts("b' x", open, &open) == "\"b' nx");
}

TEST_CASE("lines below an edit are split again") {
  TextBuffer buffer("a\nb\nc");
  LuaHighlight highlight;
  CHECK(highlight.open_at(buffer, 2) == 0);
  buffer.set_caret({0, 0});
  buffer.type("--[[");
  CHECK(highlight.open_at(buffer, 2) == 5);
  CHECK(highlight.tokens(buffer, 1)[0].part == LuaPart::comment);
  buffer.undo();
  CHECK(highlight.open_at(buffer, 2) == 0);
}

TEST_CASE("a bracket finds its partner across lines, past strings and comments") {
  TextBuffer buffer("f({ -- )\n ')' , [[)]]\n})");
  LuaHighlight highlight;
  LuaHighlight::Pair pair = highlight.brackets(buffer, {0, 1});
  CHECK(pair.second == TextRange{{2, 1}, {2, 2}});
  pair = highlight.brackets(buffer, {2, 2});
  CHECK(pair.second == TextRange{{0, 1}, {0, 2}});
  pair = highlight.brackets(buffer, {0, 0});
  CHECK_FALSE(pair.found);
  TextBuffer open("f(");
  LuaHighlight other;
  pair = other.brackets(open, {0, 2});
  CHECK(pair.found);
  CHECK(pair.second.empty());
}
