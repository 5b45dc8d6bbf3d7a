#include "ui/actions/curve_desk.h"

namespace lunagrad {

CurveDesk::CurveDesk(Journal& journal, Shell& shell, const std::function<void()>& wake)
    : journal_(journal), shell_(shell), library_(wake) {
  shell_.actions().add({"show_run", "folder, on", [this](const ActionArguments& given) {
                          library_.show(given.text(0, "folder"), given.flag(1, "on"));
                        }});
  shell_.actions().add({"set_smoothing", "beta", [this](const ActionArguments& given) {
                          const double beta = given.number(0, "beta");
                          if (!(beta >= 0 && beta < 1)) given.refuse("beta must be from 0 to less than 1");
                          journal_.set_smoothing(beta);
                        }});
}

bool CurveDesk::update() {
  const bool changed = library_.update();
  for (const std::string& gone : library_.take_gone())
    shell_.write(ConsoleLine::Kind::note,
                 "the folder " + gone + " was removed: its curves are no longer shown\n");
  return changed;
}

}  // namespace lunagrad
