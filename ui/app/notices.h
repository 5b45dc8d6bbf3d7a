#pragma once
// The lines above the panels, in every layout: the error that ended the run, with its line; sentences that
// the user should read, one after the other, each until it is dismissed; before them, a warning that the
// script does not answer a stop or a pause, with the call that it is in and what can be done. Drawing thread
// only.
#include <string>
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class Notices {
 public:
  static constexpr double kPatience = 2;  // seconds that a script may leave a request unanswered

  // Draws at the cursor, `width` wide. True: the window should restart without running the script.
  bool draw(Workbench&, float width);

 private:
  struct Choice {
    const char *label, *item, *help;
  };
  // The sentence with buttons after it; returns the one that was pressed, -1 for none.
  static int bar(Workbench&, const char* item, const std::string& sentence, const std::vector<Choice>&,
                 float width, unsigned color);
  static void draw_failure(Workbench&, float width);
};

// "the script has not answered for 3 s: it is in os.execute, called at train.lua:12", or "".
std::string silence_sentence(const Workbench&);

}  // namespace lunagrad
