#include <GLFW/glfw3.h>
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <cstdio>

#include "script/session.h"
#include "tests/support/timing.h"
#include "ui/editor/completion.h"
#include "ui/text/code_editor.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

using namespace lunagrad;

namespace {

// Dear ImGui without a window: frames are built and discarded.
class Frames {
 public:
  Frames() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {800, 600};
    load_fonts(1);
    set_theme(true);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
  ~Frames() { ImGui::DestroyContext(); }

  CodeEditor::Result draw(CodeEditor& view, TextBuffer& buffer, const CodeEditor::Look& look = {}) {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    const CodeEditor::Result result = view.draw("code", buffer, ImGui::GetContentRegionAvail(), look);
    ImGui::End();
    ImGui::Render();
    return result;
  }
  CodeEditor::Result press(CodeEditor& view, TextBuffer& buffer, int key, bool ctrl = false,
                           bool shift = false, const CodeEditor::Look& look = {}) {
    play_modifiers(ctrl, shift, false, true);
    play_key(key, true);
    const CodeEditor::Result result = draw(view, buffer, look);
    play_key(key, false);
    play_modifiers(ctrl, shift, false, false);
    draw(view, buffer, look);
    return result;
  }
};

}  // namespace

TEST_CASE("keys edit the text only while the editor has the focus") {
  Frames frames;
  CodeEditor view;
  TextBuffer buffer("local x = 1\n");
  ImGui::GetIO().AddInputCharactersUTF8("no");
  frames.draw(view, buffer);
  CHECK(buffer.content() == "local x = 1\n");
  view.take_focus();
  frames.draw(view, buffer);
  frames.draw(view, buffer);
  REQUIRE(view.focused());
  CHECK(ImGui::GetIO().WantTextInput);
  frames.press(view, buffer, GLFW_KEY_END);
  CHECK(buffer.caret() == TextPosition{0, 11});
  frames.press(view, buffer, GLFW_KEY_ENTER);
  ImGui::GetIO().AddInputCharactersUTF8("y \xc3\xa4");
  CHECK(frames.draw(view, buffer).typed);
  CHECK(buffer.content() == "local x = 1\ny \xc3\xa4\n");
  frames.press(view, buffer, GLFW_KEY_BACKSPACE);
  CHECK(buffer.content() == "local x = 1\ny \n");
  frames.press(view, buffer, GLFW_KEY_HOME, true);
  frames.press(view, buffer, GLFW_KEY_RIGHT, true, true);
  CHECK(buffer.text(buffer.selection()) == "local ");
  frames.press(view, buffer, GLFW_KEY_SLASH, true);
  CHECK(buffer.line(0) == "-- local x = 1");
  frames.press(view, buffer, GLFW_KEY_Z, true);
  CHECK(buffer.line(0) == "local x = 1");
}

TEST_CASE("no key changes a text that is only read, and the editor hears of each that would have") {
  Frames frames;
  CodeEditor view;
  TextBuffer buffer("local x = 1\nreturn x\n");
  buffer.set_caret({1, 0});
  buffer.type("-- ");  // so that there is something to undo
  const std::string content = buffer.content();
  const uint64_t state = buffer.state();
  CodeEditor::Look look;
  look.read_only = true;
  view.take_focus();
  frames.draw(view, buffer, look);
  frames.draw(view, buffer, look);
  REQUIRE(view.focused());
  ImGui::GetIO().AddInputCharactersUTF8("no");
  CodeEditor::Result did = frames.draw(view, buffer, look);
  CHECK(did.refused);
  CHECK_FALSE(did.edited);
  for (const int key : {GLFW_KEY_ENTER, GLFW_KEY_TAB, GLFW_KEY_BACKSPACE, GLFW_KEY_DELETE}) {
    CAPTURE(key);
    did = frames.press(view, buffer, key, false, false, look);
    CHECK(did.refused);
    CHECK_FALSE(did.edited);
  }
  for (const int key : {GLFW_KEY_Z, GLFW_KEY_X, GLFW_KEY_V, GLFW_KEY_D, GLFW_KEY_SLASH}) {
    CAPTURE(key);
    CHECK(frames.press(view, buffer, key, true, false, look).refused);
  }
  CHECK(buffer.content() == content);
  CHECK(buffer.state() == state);
  // The caret moves and selects as in any text.
  CHECK_FALSE(frames.press(view, buffer, GLFW_KEY_HOME, true, false, look).refused);
  frames.press(view, buffer, GLFW_KEY_RIGHT, true, true, look);
  CHECK(buffer.text(buffer.selection()) == "local ");
}

TEST_CASE(
    "a frame of a text of 20,000 lines takes a few milliseconds, also while the user types at its end") {
  Frames frames;
  CodeEditor view;
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += "  self.layer" + std::to_string(i) + " = nn.Linear(64, 10) -- a layer\n";
  TextBuffer buffer(text);
  view.take_focus();
  frames.draw(view, buffer);
  buffer.set_caret({19990, 0});
  view.follow_caret();
  frames.draw(view, buffer);
  frames.draw(view, buffer);
  double slowest = 0, sum = 0;
  constexpr int kFrames = 100;
  for (int i = 0; i < kFrames; ++i) {
    ImGui::GetIO().AddInputCharacter('x');
    const double start = tests::thread_seconds();
    frames.draw(view, buffer);
    const double took = 1e3 * (tests::thread_seconds() - start);
    slowest = std::max(slowest, took);
    sum += took;
  }
  CHECK(buffer.line(19990).starts_with(std::string(kFrames, 'x')));
  std::printf("editor, 20,000 lines: %.2f ms a frame, %.2f ms the slowest\n", sum / kFrames, slowest);
  CHECK_TIME(sum / kFrames < 16);
}

TEST_CASE("the text stays where it is when the columns beside it come, grow and go") {
  Frames frames;
  CodeEditor view;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "local x" + std::to_string(i) + " = torch.relu(x)\n";
  TextBuffer buffer(text);
  CodeEditor::Look look;
  ImVec2 first{0, 0}, end{0, 0};
  look.on_visible = [&](int line, ImVec2 min, ImVec2 max) {
    if (line == 1) first = min, end = max;
  };
  frames.draw(view, buffer, look);
  frames.draw(view, buffer, look);
  const float x = first.x;
  REQUIRE(x > 0);
  std::string cell = "1 ms";
  look.columns = {{"time", "help"}, {"output", "help"}};
  look.cell = [&](int, size_t) { return cell; };
  for (int i = 0; i < 3; ++i) frames.draw(view, buffer, look);
  CHECK(first.x == x);
  const float y = first.y;  // below the row of the headings
  cell = "[64, 128, 256]";
  for (int i = 0; i < 3; ++i) frames.draw(view, buffer, look);
  CHECK(first.x == x);
  // The cells are right of the text, and tell their line.
  ImGui::GetIO().MousePos = {700, first.y + 3};
  frames.draw(view, buffer, look);
  const CodeEditor::Result did = frames.draw(view, buffer, look);
  CHECK(did.gutter_hovered == 1);
  CHECK(did.hovered.min.x > end.x);
  CHECK(did.hovered.contains(ImGui::GetIO().MousePos));
  look.columns.clear();
  for (int i = 0; i < 3; ++i) frames.draw(view, buffer, look);
  CHECK(first.x == x);
  CHECK(first.y == y);
  // A window without room for the columns shows the text alone.
  look.columns = {{"time", "help"}, {"output", "help"}};
  ImGui::GetIO().DisplaySize = {160, 300};
  for (int i = 0; i < 3; ++i) frames.draw(view, buffer, look);
  CHECK(first.x == x);
  CHECK(frames.draw(view, buffer, look).gutter_hovered == -1);
}

TEST_CASE("unusual texts are drawn: empty, one very long line, invalid UTF-8, tabs, a tiny window") {
  Frames frames;
  for (const std::string& text :
       {std::string(), std::string(300000, 'x'), std::string("\xff\0\t\x1b[1m\n", 8),
        std::string("\t\t-- tabs\n\xe4\xb8\xad\xe6\x96\x87\n")}) {
    CodeEditor view;
    TextBuffer buffer(text);
    CodeEditor::Look look;
    look.errors = {{0, "an error"}, {99, "of a line that is gone"}};
    look.columns = {{"time", "help"}};
    look.cell = [](int, size_t) { return std::string("12 ms"); };
    look.marked = 50;
    for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{30, 20}}) {
      ImGui::GetIO().DisplaySize = size;
      view.take_focus();
      frames.draw(view, buffer, look);
      frames.draw(view, buffer, look);
      frames.press(view, buffer, GLFW_KEY_END);
    }
    ImGui::GetIO().DisplaySize = {800, 600};
    CHECK(buffer.caret() == TextPosition{0, int(buffer.line(0).size())});
  }
}

TEST_CASE("aliases are resolved through local assignments") {
  const TextBuffer buffer(
      "local lg = require \"lunagrad\"\nlocal nn, F = lg.nn, lg.nn.functional\nlocal optim = "
      "require('lunagrad.optim')\n"
      "local n = 3\n");
  CHECK(resolved_path(buffer, "nn.Linear") == "lg.nn.Linear");
  CHECK(resolved_path(buffer, "F.rel") == "lg.nn.functional.rel");
  CHECK(resolved_path(buffer, "optim.") == "lg.optim.");
  CHECK(resolved_path(buffer, "lg.zeros") == "lg.zeros");
  CHECK(resolved_path(buffer, "n.x") == "n.x");
  CHECK(resolved_path(buffer, "x:sum") == "x:sum");
}

TEST_CASE("completions come from the op records, the session and the text") {
  Session session([](const Event&) {});
  Completion completion({});
  session.eval("lg.nn");  // a part of the library is loaded when it is first used
  const auto proposed = [&](const char* text, const char* name) {
    TextBuffer buffer(text);
    buffer.set_caret(buffer.end());
    completion.ask(session, buffer);
    session.eval("");  // answered after the request
    session.wait();
    Proposal proposal;
    tests::eventually([&] {
      const auto& all = completion.proposals();
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const Proposal& p) { return p.name == name; });
      if (found != all.end()) proposal = *found;
      return found != all.end();
    });
    return proposal;
  };
  CHECK(proposed("x:log_s", "log_softmax").detail.find("dim") != std::string::npos);
  CHECK(proposed("x:log_s", "log_softmax").help.find("lg.log_softmax(") == 0);
  CHECK(proposed("local nn = require('lunagrad').nn\nlocal layers = 1\nlay", "layers").detail ==
        "in this text");
  CHECK(proposed("local lg = require 'lunagrad'\nlocal nn = lg.nn\nnn.Lin", "Linear").name == "Linear");
  CHECK(proposed("self.width = 1\nself.wi", "width").name == "width");
  CHECK(proposed("whi", "while").name == "while");
}
