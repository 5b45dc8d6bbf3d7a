#pragma once
// The line over the panels: sentences that the user should read, one after the other, each until it is
// dismissed; and before them, that the script leaves a stop or a pause waiting, in which call, with a way
// out. Drawing thread only.
#include <string>
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class Notices {
 public:
  static constexpr double kPatience = 2;  // seconds that a script may leave a request waiting

  // At the cursor, as wide as `width`. True: the window is to begin anew, without the script.
  bool draw(Workbench&, float width);

 private:
  struct Choice {
    const char *label, *item, *help;
  };
  // The sentence with buttons behind it; the one that was pressed, -1 for none.
  static int bar(Workbench&, const char* item, const std::string& sentence, const std::vector<Choice>&,
                 float width);
};

// "the script has not answered for 3 s: it is in os.execute, called at train.lua:12", "" while it is not
// silent for long.
std::string silence_sentence(const Workbench&);

}  // namespace lunagrad
