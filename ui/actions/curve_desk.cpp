#include "ui/actions/curve_desk.h"

namespace lunagrad {

bool CurveDesk::update() {
  const bool changed = library_.update();
  for (const std::string& gone : library_.take_gone())
    shell_.write(ConsoleLine::Kind::note,
                 "the folder " + gone + " was removed: its curves are no longer shown\n");
  return changed;
}

}  // namespace lunagrad
