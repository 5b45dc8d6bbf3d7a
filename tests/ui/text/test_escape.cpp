// Escape in a text and in a prompt: what is open closes, and the keys that follow are typed.
#include <GLFW/glfw3.h>
#include <doctest/doctest.h>
#include <imgui.h>

#include <functional>
#include <string>

#include "ui/text/code_editor.h"
#include "ui/text/prompt.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

using namespace lunagrad;

namespace {

// Dear ImGui with keyboard navigation, as in the window: on Escape it leaves a child window.
class Keyboard {
 public:
  explicit Keyboard(std::function<void()> draw) : draw_(std::move(draw)) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {800, 600};
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
#if IMGUI_VERSION_NUM < 18700
    io.KeyMap[ImGuiKey_Escape] = GLFW_KEY_ESCAPE;
    io.KeyMap[ImGuiKey_Enter] = GLFW_KEY_ENTER;
    io.KeyMap[ImGuiKey_Tab] = GLFW_KEY_TAB;
    io.KeyMap[ImGuiKey_Space] = GLFW_KEY_SPACE;
    io.KeyMap[ImGuiKey_LeftArrow] = GLFW_KEY_LEFT;
#endif
    load_fonts(1);
    set_theme(true);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    play_at_once(true);
  }
  ~Keyboard() { ImGui::DestroyContext(); }
  Keyboard(const Keyboard&) = delete;

  void frame() {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    ImGui::BeginChild("panel");
    draw_();
    ImGui::EndChild();
    ImGui::End();
    ImGui::Render();
  }
  // One frame with the press, the next with the release: as fast as the window takes keys.
  void press(int key) {
    play_key(key, true);
    frame();
    play_key(key, false);
  }
  // A letter in each frame.
  void type(const std::string& text) {
    for (const char c : text) {
      ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
      frame();
    }
  }

 private:
  std::function<void()> draw_;
};

}  // namespace

TEST_CASE("after Escape the keys are still typed into the text") {
  CodeEditor view;
  TextBuffer buffer("local x = 1\n");
  CodeEditor::Look look;
  Keyboard keyboard([&] { view.draw("code", buffer, ImGui::GetContentRegionAvail(), look); });
  view.take_focus();
  for (int i = 0; i < 3; ++i) keyboard.frame();
  REQUIRE(view.focused());
  for (const bool popup : {true, false}) {
    CAPTURE(popup);
    buffer.set_caret({0, 11});
    look.popup = popup;  // a list is open at the caret, or nothing is
    keyboard.type(" ");
    keyboard.press(GLFW_KEY_ESCAPE);
    look.popup = false;
    CHECK(view.focused());
    keyboard.type("+ y");
    CHECK(view.focused());
  }
  CHECK(buffer.line(0) == "local x = 1 + y + y");
}

TEST_CASE("Escape closes the prompt's list, and no key is lost") {
  Prompt prompt;
  std::string asked, entered;
  Keyboard keyboard([&] {
    if (prompt.draw("", -1, {}, [&](const std::string& before) { asked = before; }))
      entered = prompt.entered();
  });
  prompt.focus();
  for (int i = 0; i < 4; ++i) keyboard.frame();
  keyboard.type("sq");
  keyboard.press(GLFW_KEY_TAB);
  REQUIRE(asked == "sq");
  prompt.offer("sq", {"sqrt", "square"});
  keyboard.frame();
  keyboard.press(GLFW_KEY_ESCAPE);
  keyboard.type("x + 1");
  CHECK(prompt.text() == "sqx + 1");

  // Before the answer has arrived.
  keyboard.press(GLFW_KEY_TAB);
  REQUIRE(asked == "sqx + 1");
  keyboard.press(GLFW_KEY_ESCAPE);
  prompt.offer("sqx + 1", {"11"});
  keyboard.type("0");
  CHECK(prompt.text() == "sqx + 10");

  // Enter submits, and the next line is typed at once.
  keyboard.press(GLFW_KEY_ENTER);
  CHECK(entered == "sqx + 10");
  keyboard.type("2");
  CHECK(prompt.text() == "2");
}

TEST_CASE("Enter takes a name of the prompt's list in the middle of a line") {
  Prompt prompt;
  Keyboard keyboard([&] { prompt.draw("", -1, {}, [](const std::string&) {}); });
  prompt.focus();
  for (int i = 0; i < 4; ++i) keyboard.frame();
  keyboard.type("sq(4)");
  for (int i = 0; i < 3; ++i) {
    keyboard.press(GLFW_KEY_LEFT);
    keyboard.frame();
  }
  keyboard.press(GLFW_KEY_TAB);
  prompt.offer("sq", {"sqrt", "square"});
  keyboard.frame();
  keyboard.press(GLFW_KEY_ENTER);
  CHECK(prompt.text() == "sqrt(4)");
  keyboard.type("_");
  CHECK(prompt.text() == "sqrt_(4)");
}
