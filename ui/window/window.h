#pragma once
// The desktop window: GLFW for the window and its input, Dear ImGui's context, a Presenter for the pixels.
// Sleeps until there is input or wake() is called. Drawing thread only, except wake().
#include <functional>
#include <memory>
#include <string>

#include "ui/window/display_input.h"
#include "ui/window/presenter.h"

struct GLFWwindow;

namespace lunagrad {

class Window {
 public:
  struct Options {
    int width = 1280, height = 800;
    std::string title;
    bool validation = false;
    bool dark = true;
    float scale = 0;  // scale of fonts and measures; 0: the monitor's scale
  };
  // Throws Error (kind device), which names what is missing: a display, a driver.
  explicit Window(const Options&);
  ~Window();
  Window(const Window&) = delete;

  bool wants_to_close() const;
  void set_wants_to_close(bool);
  // Sleeps until input, wake() or the end of `seconds`; returns immediately while input is queued. Returns
  // true when there was input since the last call.
  bool wait(double seconds);
  bool input_queued() const { return input_->queued(); }  // input waits for the next frame
  static void wake();                                     // any thread, while a Window exists
  static bool woken_up();                                 // wake() was called since take_wake()
  static void take_wake();                                // call before news are taken over
  // Called instead of exit() when the X display is gone; must not return, and must not use a Window.
  static void on_lost_display(std::function<void()>);

  // `inject` runs while the input of the frame can still be changed.
  void begin_frame(const std::function<void()>& inject = {});
  void end_frame(bool shown = true);  // not shown: built, but drawn only for a capture
  // CPU time for building the last frame, from Dear ImGui's new frame to its draw data.
  double build_ms() const { return build_ms_; }

  void resize(int width, int height);
  void size(int& width, int& height) const;
  // Reloads fonts and measures; do not call it within a frame. 0: the monitor's scale.
  void set_scale(float scale);
  bool monitor_scale_changed();  // changed since the last call, for example by a move to another monitor
  // The time spent in the driver since the start: for its loader, an instance, a device, swapchains.
  Spent driver_time() const { return Spent(loader_time_) += presenter_->driver_time(); }
  const Spent& font_time() const { return font_time_; }  // the time spent on loading fonts
  void set_title(const std::string&);
  Presenter& presenter() { return *presenter_; }
  const Presenter& presenter() const { return *presenter_; }

 private:
  void release();

  std::unique_ptr<GLFWwindow, void (*)(GLFWwindow*)> window_;
  std::unique_ptr<DisplayInput> input_;
  std::unique_ptr<Presenter> presenter_;
  Spent loader_time_, font_time_;
  double began_ms_ = 0, build_ms_ = 0;
};

}  // namespace lunagrad
