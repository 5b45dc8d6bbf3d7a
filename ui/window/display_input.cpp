#include "ui/window/display_input.h"

#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/window/field_focus.h"
#include "ui/window/glfw.h"
#include "ui/window/input.h"

namespace lunagrad {
namespace {

constexpr float kNowhere = -1e6f;

int modifier_bit(int key) {
  switch (key) {
    case GLFW_KEY_LEFT_CONTROL:
    case GLFW_KEY_RIGHT_CONTROL:
      return GLFW_MOD_CONTROL;
    case GLFW_KEY_LEFT_SHIFT:
    case GLFW_KEY_RIGHT_SHIFT:
      return GLFW_MOD_SHIFT;
    case GLFW_KEY_LEFT_ALT:
    case GLFW_KEY_RIGHT_ALT:
      return GLFW_MOD_ALT;
    case GLFW_KEY_LEFT_SUPER:
    case GLFW_KEY_RIGHT_SUPER:
      return GLFW_MOD_SUPER;
    default:
      return 0;
  }
}

// X reports the modifiers from before the event, so for a modifier key its own bit is corrected here.
InputEvent key_event(int key, bool down, int modifiers) {
  const int own = modifier_bit(key);
  InputEvent event;
  event.kind = InputKind::key;
  event.code = key;
  event.down = down;
  event.modifiers = down ? modifiers | own : modifiers & ~own;
  event.is_modifier = own != 0;
  return event;
}

}  // namespace

DisplayInput* DisplayInput::current = nullptr;

DisplayInput::DisplayInput(GLFWwindow* window) : window_(window) {
  current = this;
  play_at_once(true);  // this queue already spreads the input over frames
  glfwSetCursorPosCallback(window, [](GLFWwindow*, double x, double y) {
    InputEvent event;
    event.x = float(x);
    event.y = float(y);
    current->note(event);
  });
  glfwSetMouseButtonCallback(window, [](GLFWwindow*, int button, int action, int modifiers) {
    InputEvent event;
    event.kind = InputKind::button;
    event.code = button;
    event.down = action == GLFW_PRESS;
    event.modifiers = modifiers;
    if (button < int(std::size(current->down_))) current->note(event);
  });
  glfwSetScrollCallback(window, [](GLFWwindow*, double x, double y) {
    InputEvent event;
    event.kind = InputKind::wheel;
    event.x = float(x);
    event.y = float(y);
    current->note(event);
  });
  glfwSetKeyCallback(window, [](GLFWwindow*, int key, int, int action, int modifiers) {
    current->arrived_ = true;  // a held key repeats by Dear ImGui's clock, which needs frames
    if (key >= 0 && action != GLFW_REPEAT) current->note(key_event(key, action == GLFW_PRESS, modifiers));
  });
  glfwSetCharCallback(window, [](GLFWwindow*, unsigned character) {
    InputEvent event;
    event.kind = InputKind::text;
    event.character = character;
    current->note(event);
  });
  glfwSetWindowFocusCallback(window, [](GLFWwindow*, int focused) {
    InputEvent event;
    event.kind = InputKind::focus;
    event.down = focused == GLFW_TRUE;
    current->note(event);
  });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* window, int entered) {
    // While Dear ImGui since 1.87 takes the mouse to be outside, it asks the display for the position.
    if (IMGUI_VERSION_NUM >= 18700) ImGui_ImplGlfw_CursorEnterCallback(window, entered);
    current->arrived_ = true;
    if (entered) return;  // a move event with the position follows
    InputEvent event;
    event.kind = InputKind::leave;
    current->note(event);
  });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow*, int, int) { current->arrived_ = true; });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow*) { current->arrived_ = true; });
  glfwSetWindowContentScaleCallback(
      window, [](GLFWwindow*, float, float) { current->scale_changed_ = current->arrived_ = true; });
  glfwSetWindowCloseCallback(window, [](GLFWwindow*) { current->arrived_ = true; });
}

DisplayInput::~DisplayInput() {
  glfwSetCursorPosCallback(window_, nullptr);
  glfwSetMouseButtonCallback(window_, nullptr);
  glfwSetScrollCallback(window_, nullptr);
  glfwSetKeyCallback(window_, nullptr);
  glfwSetCharCallback(window_, nullptr);
  glfwSetWindowFocusCallback(window_, nullptr);
  glfwSetCursorEnterCallback(window_, nullptr);
  glfwSetFramebufferSizeCallback(window_, nullptr);
  glfwSetWindowRefreshCallback(window_, nullptr);
  glfwSetWindowContentScaleCallback(window_, nullptr);
  glfwSetWindowCloseCallback(window_, nullptr);
  current = nullptr;
}

void DisplayInput::note(const InputEvent& event) {
  arrived_ = true;
  queue_.push(event);
}

void DisplayInput::play(const InputEvent& event) {
  if (event.kind == InputKind::key || event.kind == InputKind::button)
    play_modifier_state(event.modifiers & GLFW_MOD_CONTROL, event.modifiers & GLFW_MOD_SHIFT,
                        event.modifiers & GLFW_MOD_ALT, event.modifiers & GLFW_MOD_SUPER);
  switch (event.kind) {
    case InputKind::move:
      x_ = event.x;
      y_ = event.y;
      break;
    case InputKind::leave:  // a drag continues outside the window
      if (std::none_of(std::begin(down_), std::end(down_), [](bool down) { return down; }))
        x_ = y_ = kNowhere;
      break;
    case InputKind::button:
      down_[event.code] = event.down;
      break;
    case InputKind::wheel:
      play_wheel(event.y, event.x);
      break;
    case InputKind::key:
      play_key(event.code, event.down);
      break;
    case InputKind::text:
      ImGui::GetIO().AddInputCharacter(event.character);
      break;
    case InputKind::focus:
      ImGui::GetIO().AddFocusEvent(event.down);
      break;
  }
}

void DisplayInput::play_frame() {
  // Dear ImGui 1.86's backend has set the display's present state; the events replace it by the state at
  // their time.
  if (!input_waits())
    for (const InputEvent& event : queue_.take_frame()) play(event);
  play_mouse(x_ == kNowhere ? ImVec2(-FLT_MAX, -FLT_MAX) : ImVec2(x_, y_));
  for (int button = 0; button < int(std::size(down_)); ++button) play_button(button, down_[button]);
}

bool DisplayInput::arrived() { return std::exchange(arrived_, false); }
bool DisplayInput::scale_changed() { return std::exchange(scale_changed_, false); }

}  // namespace lunagrad
