#pragma once
// Asks the user before code that somebody else wrote runs. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TrustQuestion {
 public:
  void draw(Workbench&);  // draws the question if there is one

 private:
  bool open_ = false;
};

}  // namespace lunagrad
