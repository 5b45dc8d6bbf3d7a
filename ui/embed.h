#pragma once
// The workbench's panels for a host with its own Dear ImGui frame loop: a Session, the state of the panels,
// and a function that draws one panel into the host's window. The host's context must be current and its
// fonts built; destroy this object before the context. Drawing thread only; the script runs on a separate
// thread.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "script/session.h"

struct ImFont;

namespace lunagrad {

class Description;

class PanelHost {
 public:
  struct Options {
    ImFont* font = nullptr;  // font of the panels; null: the fonts of load_fonts() in theme.h, as in a Window
    std::function<void()> wake;  // there is something new to draw; called on any thread
    EventSink on_event;          // gets the session's events, on the session's thread
  };
  // The colours come from set_theme() in theme.h. If it was not called, they are dark, and the host's style
  // is kept.
  explicit PanelHost(Options);
  ~PanelHost();  // ends the run, within its current kernel
  PanelHost(const PanelHost&) = delete;

  // Like the session's functions of these names; they also clear curves and tape.
  void run_file(const std::string& path, RunOptions = {});
  void run_text(const std::string& code, const std::string& chunk_name, RunOptions = {});
  Session& session();

  bool update();  // once a frame, before the panels are drawn. True: there is something new to see
  std::vector<std::string> titles() const;  // "Curves", "Tape", …
  // Draws the panel with this title into the rest of the current window. Throws if there is no such panel. A
  // panel that was clicked gets its own keys, for example the arrows on the tape; Dear ImGui before 1.87 must
  // get keys by GLFW's numbers.
  void draw(const std::string& title);
  // What draw() has shown since the last update(), for tests and screen readers; recorded from the first call
  // on.
  const Description& shown();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lunagrad
