#include "ui/actions/curve_controller.h"

#include <algorithm>

namespace lunagrad {

CurveController::CurveController(Journal& journal, Shell& shell, const std::function<void()>& wake)
    : journal_(journal), shell_(shell), library_(wake) {
  shell_.actions().add({"show_run", "folder, on", [this](const ActionArguments& given) {
                          library_.show(given.text(0, "folder"), given.flag(1, "on"));
                        }});
  shell_.actions().add({"show_runs", "{...}", [this](const ActionArguments& given) {
                          const std::vector<std::string> folders = given.list(0, "folders");
                          const std::set<std::string> wanted(folders.begin(), folders.end());
                          for (const std::string& folder : std::set<std::string>(library_.shown()))
                            if (!wanted.count(folder)) library_.show(folder, false);
                          for (const std::string& folder : wanted) library_.show(folder, true);
                        }});
  shell_.actions().add({"set_smoothing", "beta", [this](const ActionArguments& given) {
                          const double beta = given.number(0, "beta");
                          if (!(beta >= 0 && beta < 1)) given.refuse("beta must be from 0 to less than 1");
                          journal_.set_smoothing(beta);
                        }});
}

bool CurveController::update() {
  const bool changed = library_.update();
  for (const std::string& gone : library_.take_gone())
    shell_.write(ConsoleLine::Kind::note,
                 "the folder " + gone + " was removed: its curves are no longer shown\n");
  return changed;
}

std::set<std::string> CurveController::look_around(const std::string& script) {
  std::set<std::string> folders{full_path("runs")};
  if (!opened_sweep_.empty()) folders.insert(opened_sweep_ + "/trials");
  const auto parent = [](const std::string& path) {
    return path.substr(0, std::max<size_t>(path.find_last_of('/'), 1));
  };
  if (!script.empty()) folders.insert(parent(full_path(script)) + "/runs");
  if (!journal_.run_folder().empty()) folders.insert(parent(full_path(journal_.run_folder())));
  for (const auto& [folder, run] : library_.curves()) folders.insert(parent(folder));
  // A run's copy of its script is in the run's folder, which contains no other runs.
  std::erase_if(folders, [&](const std::string& folder) { return library_.shows(parent(folder)); });
  library_.look_in(folders);
  return folders;
}

}  // namespace lunagrad
