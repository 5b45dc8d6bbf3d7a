#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "ui/base/utf8.h"
#include "ui/text/buffer.h"
#include "ui/text/commands.h"

using namespace lunagrad;

namespace {

void type(TextBuffer& buffer, const char* letters) {
  for (; *letters; ++letters) buffer.type(std::string_view(letters, 1));
}

}  // namespace

TEST_CASE("loading and saving a text keeps every byte") {
  const std::string texts[] = {"",         "a",  "a\n",    "\n\n",       "a\r\nb\r\n",
                               "a\r\nb\n", "\r", "a\rb\n", "\xff\xfe\n", std::string("z\0ero\n", 6),
                               "\tx\n"};
  for (const std::string& text : texts) CHECK(TextBuffer(text).content() == text);
  CHECK(TextBuffer("a\r\nb\r\n").crlf());
  CHECK(TextBuffer("a\r\nb\r\n").line(0) == "a");
  CHECK_FALSE(TextBuffer("a\r\nb\n").crlf());
  CHECK(TextBuffer("a\r\nb\n").line(0) == "a\r");
}

TEST_CASE("consecutive typing is undone word by word") {
  TextBuffer buffer("x\n");
  type(buffer, "local a");
  CHECK(buffer.line(0) == "local ax");
  CHECK(buffer.undo());
  CHECK(buffer.line(0) == "local x");
  CHECK(buffer.undo());
  CHECK(buffer.line(0) == "x");
  CHECK_FALSE(buffer.undo());
  CHECK(buffer.redo());
  CHECK(buffer.redo());
  CHECK(buffer.line(0) == "local ax");
  CHECK_FALSE(buffer.redo());
  buffer.set_caret({0, 0});
  type(buffer, "y");
  CHECK(buffer.undo());
  CHECK(buffer.line(0) == "local ax");
}

TEST_CASE("undo restores text, caret and state through a thousand random edits") {
  std::mt19937 random(5);
  TextBuffer buffer("one\ntwo\nthree\n");
  std::vector<std::string> texts{buffer.content()};
  std::vector<uint64_t> states{buffer.state()};
  const std::string pieces[] = {"", "a", "bc\n", "\n\n", "\xc3\xa4", "  "};
  for (int i = 0; i < 1000; ++i) {
    const auto any = [&] {
      const int line = int(random() % unsigned(buffer.line_count()));
      return buffer.clamp({line, int(random() % (buffer.line(line).size() + 1))});
    };
    TextPosition a = any(), b = any();
    if (b < a) std::swap(a, b);
    if (b.line > a.line + 2) b = a;
    buffer.replace({a, b}, pieces[random() % 6]);
    texts.push_back(buffer.content());
    states.push_back(buffer.state());
  }
  for (size_t i = texts.size(); i-- > 1;) {
    REQUIRE(buffer.content() == texts[i]);
    REQUIRE(buffer.state() == states[i]);
    REQUIRE(buffer.undo());
  }
  CHECK(buffer.content() == texts[0]);
  for (size_t i = 1; i < texts.size(); ++i) {
    REQUIRE(buffer.redo());
    REQUIRE(buffer.content() == texts[i]);
    REQUIRE(buffer.state() == states[i]);
  }
}

TEST_CASE("edits within a step are undone together, and the caret follows") {
  TextBuffer buffer("a\nb\nc");
  buffer.set_caret({2, 1});
  {
    const TextBuffer::Step step(buffer);
    buffer.replace({{0, 0}, {0, 0}}, "x\n");
    buffer.replace({{1, 0}, {1, 1}}, "");
  }
  CHECK(buffer.content() == "x\n\nb\nc");
  CHECK(buffer.caret() == TextPosition{3, 1});
  CHECK(buffer.undo());
  CHECK(buffer.content() == "a\nb\nc");
  CHECK(buffer.caret() == TextPosition{2, 1});
}

TEST_CASE("pasted text gets this system's line ends") {
  TextBuffer buffer("a\n");
  buffer.type("1\r\n2\r\n");
  CHECK(buffer.content() == "1\n2\na\n");
}

TEST_CASE("the caret steps over whole characters, and over invalid UTF-8 byte by byte") {
  const std::string line = "a\xc3\xa4\xe2\x86\x92\xf0\x9f\x98\x80\xffz";
  std::vector<size_t> forward, backward;
  for (size_t at = 0; at < line.size(); at = utf8_next(line, at)) forward.push_back(at);
  for (size_t at = line.size(); at > 0;) backward.push_back(at = utf8_previous(line, at));
  std::reverse(backward.begin(), backward.end());
  CHECK(forward == std::vector<size_t>{0, 1, 3, 6, 10, 11});
  CHECK(forward == backward);
  CHECK(utf8_of(0x2192) == "\xe2\x86\x92");
  CHECK(utf8_of(0x1f600) == "\xf0\x9f\x98\x80");
  TextBuffer buffer(line);
  CHECK(buffer.clamp({0, 2}) == TextPosition{0, 1});
  CHECK(buffer.clamp({7, 9}) == buffer.end());
}

TEST_CASE("the caret moves by letters, words, lines and ends") {
  TextBuffer buffer("local x = foo.bar\n\n  return 1\n");
  CHECK(moved_by(buffer, {0, 0}, Motion::word_right) == TextPosition{0, 6});
  CHECK(moved_by(buffer, {0, 17}, Motion::word_right) == TextPosition{1, 0});
  CHECK(moved_by(buffer, {0, 17}, Motion::word_left) == TextPosition{0, 14});
  CHECK(moved_by(buffer, {1, 0}, Motion::left) == TextPosition{0, 17});
  CHECK(moved_by(buffer, {2, 5}, Motion::line_start) == TextPosition{2, 2});
  CHECK(moved_by(buffer, {2, 2}, Motion::line_start) == TextPosition{2, 0});
  CHECK(moved_by(buffer, {0, 10}, Motion::down, 10, 2) == TextPosition{2, 10});
  CHECK(moved_by(buffer, {2, 3}, Motion::up, 3, 9) == TextPosition{0, 3});
  CHECK(moved_by(buffer, {0, 3}, Motion::end) == TextPosition{3, 0});
  CHECK(path_at(buffer, {0, 15}) == "foo.bar");
  CHECK(path_at(buffer, {0, 11}) == "foo");
  CHECK(screen_column("\tx", 1) == kTabWidth);
  CHECK(column_at("\tx", kTabWidth) == 1);
  CHECK(column_at("\tx", 1) == 0);
}

TEST_CASE("a new line is indented as its block requires") {
  LuaHighlight highlight;
  TextBuffer buffer("for i = 1, 3 do");
  buffer.set_caret(buffer.end());
  new_line(buffer, highlight);
  CHECK(buffer.line(1) == "  ");
  for (const char* letter : {"e", "n", "d"}) {
    buffer.type(letter);
    outdent_closing(buffer, highlight);
  }
  CHECK(buffer.content() == "for i = 1, 3 do\nend");
  buffer.load("f({})");
  buffer.set_caret({0, 3});
  new_line(buffer, highlight);
  CHECK(buffer.content() == "f({\n  \n})");
  CHECK(buffer.caret() == TextPosition{1, 2});
  CHECK(buffer.undo());
  CHECK(buffer.content() == "f({})");
  buffer.load("-- for x do\n");
  buffer.set_caret({0, 11});
  new_line(buffer, highlight);
  CHECK(buffer.line(1).empty());
}

TEST_CASE("lines are indented, commented, doubled, moved and deleted") {
  TextBuffer buffer("if a then\n    b()\n\n    c()\nend\n");
  CHECK(buffer.indent_unit() == "    ");
  buffer.select({1, 0}, {4, 0});
  indent(buffer);
  CHECK(buffer.content() == "if a then\n        b()\n\n        c()\nend\n");
  unindent(buffer);
  CHECK(buffer.content() == "if a then\n    b()\n\n    c()\nend\n");
  toggle_comment(buffer);
  CHECK(buffer.content() == "if a then\n    -- b()\n\n    -- c()\nend\n");
  toggle_comment(buffer);
  CHECK(buffer.content() == "if a then\n    b()\n\n    c()\nend\n");
  buffer.set_caret({0, 4});
  duplicate(buffer);
  CHECK(buffer.line(1) == "if a then");
  CHECK(buffer.caret() == TextPosition{1, 4});
  move_lines(buffer, 1);
  CHECK(buffer.line(2) == "if a then");
  CHECK(buffer.caret() == TextPosition{2, 4});
  delete_lines(buffer);
  CHECK(buffer.line_count() == 6);
  move_lines(buffer, -10);
  CHECK(buffer.line_count() == 6);
  buffer.load("a\nb");
  buffer.set_caret({1, 0});
  delete_lines(buffer);
  CHECK(buffer.content() == "a");
}

TEST_CASE("Backspace deletes a level of an indent of spaces, and a selection") {
  TextBuffer buffer("x\n    y");
  buffer.set_caret({1, 4});
  erase_by(buffer, Motion::left);
  CHECK(buffer.line(1) == "y");  // the text's indent is four spaces
  buffer.select({0, 0}, {1, 0});
  erase_by(buffer, Motion::left);
  CHECK(buffer.content() == "y");
  erase_by(buffer, Motion::left);
  CHECK(buffer.content() == "y");
}
