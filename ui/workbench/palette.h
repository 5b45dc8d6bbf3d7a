#pragma once
// The palette: an input field over the window that finds a command by what it is called or does, or a script
// to open by a few letters. It searches when it opens and when the text changes, not in each frame. Drawing
// thread only.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// The bundled examples and their descriptions.
struct Example {
  std::string path, name;  // "04_digits_mlp"
  std::string sentence;    // the beginning of its first comment
};
std::vector<Example> find_examples();
// Scripts to offer: recently opened scripts, the scripts in the folder of `script` and in the working folder,
// the examples.
std::vector<std::string> nearby_scripts(const std::vector<std::string>& recent, const std::string& script);

class Palette {
 public:
  void open_commands();
  void open_scripts(const Workbench&);
  void draw(Workbench&);

 private:
  enum class Mode { closed, commands, scripts } mode_ = Mode::closed;
  struct Entry {
    std::string title, key, help;
    std::function<bool()> enabled;
    std::function<void()> run;
  };
  std::vector<Entry> entries(Workbench&) const;
  void draw_entries(Workbench&, bool take);
  void start(Mode);

  bool opening_ = false, scroll_ = false;
  char typed_[1024] = "";
  int chosen_ = 0;
  std::vector<std::string> scripts_;
  std::vector<Entry> found_;
  std::shared_ptr<const std::vector<std::string>> nodes_;  // the texts of the tape's nodes at the last search
};

}  // namespace lunagrad
