#pragma once
// The workbench's panels for a host with a Dear ImGui frame loop of its own: a Session, what the panels know
// of its run, and a function that draws one of them into the host's window. The host's context must be
// current, its fonts built, and this goes before the context does. Belongs to the thread that draws; what it
// runs has its own.
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
    ImFont* font = nullptr;      // for the panels; null: those of load_fonts() in theme.h, as a Window has
    std::function<void()> wake;  // there is something new to draw; on any thread
    EventSink on_event;          // what the session tells, on its thread
  };
  // Colours are those of set_theme() in theme.h; without a call of it dark ones, and the host's style stays.
  explicit PanelHost(Options);
  ~PanelHost();  // ends what runs, within its current kernel
  PanelHost(const PanelHost&) = delete;

  // As the session's, with curves and tape begun anew.
  void run_file(const std::string& path, RunOptions = {});
  void run_text(const std::string& code, const std::string& chunk_name, RunOptions = {});
  Session& session();

  bool update();  // once a frame, before the panels are drawn. True: there is something new to see
  std::vector<std::string> titles() const;  // "Curves", "Tape", …
  // The panel of that title fills what is left of the current window. Error when there is none. A panel that
  // was clicked has its own keys, as the arrows on the tape; Dear ImGui before 1.87 must be told keys by
  // GLFW's numbers.
  void draw(const std::string& title);
  // What draw() showed since the last update(), for tests and for readers of a screen; kept from the first
  // call on.
  const Description& shown();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lunagrad
