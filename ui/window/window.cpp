#include "ui/window/window.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_vulkan.h>
#include <dlfcn.h>
#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "runtime/core/error.h"
#include "ui/window/glfw.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

std::atomic<bool> woken{false};
std::function<void()> lost_display;

// When Xlib's connection breaks, it calls exit() while other threads run. GLFW has loaded Xlib.
void handle_lost_display() {
  void* xlib = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (!xlib) return;
  using Handler = int (*)(void* display);
  const auto set = reinterpret_cast<Handler (*)(Handler)>(dlsym(xlib, "XSetIOErrorHandler"));
  set([](void*) {
    if (lost_display) lost_display();
    return 0;
  });
}

std::string glfw_reason() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text ? text : "unknown reason";
}

float fitting_scale(GLFWwindow* window, float scale) {
  float ignored = 0;
  if (scale == 0) glfwGetWindowContentScale(window, &scale, &ignored);
  return std::clamp(scale, 0.75f, 4.0f);
}

}  // namespace

Window::Window(const Options& options) : window_(nullptr, glfwDestroyWindow) {
  if (!glfwInit()) {
    const bool none = !std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY");
    fail_as(ErrorKind::device,
            none
                ? "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): run the script headless "
                  "with lunagrad run"
                : "the display cannot be opened: " + glfw_reason());
  }
  const Stopwatch loader;
  const bool vulkan = glfwVulkanSupported();
  loader_time_ = loader.spent();
  if (!vulkan) {
    glfwTerminate();
    fail_as(ErrorKind::device, "Vulkan's loader found no driver: install one (package mesa-vulkan-drivers)");
  }
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, options.scale == 0 ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "lunagrad-workbench");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "lunagrad-workbench");
  window_.reset(glfwCreateWindow(options.width, options.height, options.title.c_str(), nullptr, nullptr));
  if (!window_) {
    const std::string reason = glfw_reason();
    glfwTerminate();
    fail_as(ErrorKind::device, "the window cannot be opened: ", reason);
  }
  glfwSetWindowSizeLimits(window_.get(), 200, 100, GLFW_DONT_CARE, GLFW_DONT_CARE);
  handle_lost_display();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigInputTextCursorBlink = false;  // an idle window draws nothing
  const Stopwatch fonts;
  load_fonts(fitting_scale(window_.get(), options.scale));
  font_time_ = fonts.spent();
  set_theme(options.dark);
  ImGui_ImplGlfw_InitForVulkan(window_.get(), false);
  input_ = std::make_unique<DisplayInput>(window_.get());
  try {
    presenter_ = std::make_unique<Presenter>(window_.get(), options.validation);
    presenter_->upload_fonts();
  } catch (...) {
    release();
    throw;
  }
}

Window::~Window() { release(); }

void Window::release() {
  presenter_.reset();
  input_.reset();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  window_.reset();
  glfwTerminate();
}

bool Window::wants_to_close() const { return glfwWindowShouldClose(window_.get()); }
void Window::set_wants_to_close(bool wants) { glfwSetWindowShouldClose(window_.get(), wants); }

bool Window::wait(double seconds) {
  if (seconds > 0 && !input_->queued())
    glfwWaitEventsTimeout(seconds);
  else
    glfwPollEvents();
  return input_->arrived();
}

// A run wakes the window in every step: one message to the display is enough until the next frame.
void Window::wake() {
  if (!woken.exchange(true)) glfwPostEmptyEvent();
}
bool Window::woken_up() { return woken.load(); }
void Window::take_wake() { woken.store(false); }

void Window::on_lost_display(std::function<void()> act) { lost_display = std::move(act); }

void Window::begin_frame(const std::function<void()>& inject) {
  ImGui_ImplVulkan_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  input_->play_frame();
  if (inject) inject();
  began_ms_ = 1e3 * thread_cpu_seconds();
  ImGui::NewFrame();
}

void Window::end_frame(bool shown) {
  ImGui::Render();
  build_ms_ = 1e3 * thread_cpu_seconds() - began_ms_;
  if (shown || presenter_->captures()) presenter_->present(ImGui::GetDrawData(), theme().background);
}

void Window::resize(int width, int height) { glfwSetWindowSize(window_.get(), width, height); }
void Window::size(int& width, int& height) const { glfwGetWindowSize(window_.get(), &width, &height); }

void Window::set_scale(float scale) {
  load_fonts(fitting_scale(window_.get(), scale));
  set_theme(theme().dark);
  presenter_->upload_fonts();
}

bool Window::monitor_scale_changed() { return input_->scale_changed(); }
void Window::set_title(const std::string& title) { glfwSetWindowTitle(window_.get(), title.c_str()); }

}  // namespace lunagrad
