#pragma once
// The lines above the panels, in every layout: the error that ended the run, with its line; sentences for the
// user, one at a time, each until it is dismissed; above them a warning when the script does not answer a
// stop or a pause, with the call that it is in and the possible actions. Drawing thread only.
#include <string>
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class Notices {
 public:
  static constexpr double kPatience = 2;  // seconds that a script may leave a request unanswered

  // Draws at the cursor, `width` wide. Returns true when the window should restart without running the
  // script.
  bool draw(Workbench&, float width);

 private:
  struct Choice {
    const char *label, *item, *help;
  };
  // Draws the sentence with buttons after it; returns the index of the pressed button, -1 for none.
  static int bar(Workbench&, const char* item, const std::string& sentence, const std::vector<Choice>&,
                 float width, unsigned color);
  static void draw_failure(Workbench&, float width);
};

// "the script has not answered for 3 s: it is in os.execute, called at train.lua:12", or "".
std::string silence_sentence(const Workbench&);

}  // namespace lunagrad
