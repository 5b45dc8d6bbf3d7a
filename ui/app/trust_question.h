#pragma once
// Asks before code of somebody else runs. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

class TrustQuestion {
 public:
  void draw(Workbench&);  // while there is a question

 private:
  bool open_ = false;
};

}  // namespace lunagrad
