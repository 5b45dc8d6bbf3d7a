#include "script/cli/history/check_runs.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "script/check/check.h"
#include "script/run/bundle.h"
#include "script/run/record.h"
#include "script/run/sweep.h"
#include "script/view/run.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

class Checking {
 public:
  explicit Checking(bool repair) : repair_(repair) {}

  void take(const std::string& name, const std::string& folder) {
    std::error_code ignored;
    if (is_bundle(name))
      check_bundle(name, report_);
    else if (is_sweep(name))
      check_sweep(name, repair_, report_);
    else if (is_run_folder(name))
      check_run(name, repair_, report_);
    else if (fs::is_directory(name, ignored))
      take_folder(name, true);
    else
      check_run(find_run(name, folder), repair_, report_);
  }

  // `all`: checks the folder's runs as well as its sweeps.
  void take_folder(const std::string& folder, bool all) {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
      if (entry.is_directory(ignored)) found.push_back(entry.path().lexically_normal().string());
    std::sort(found.begin(), found.end());
    for (const std::string& one : found) {
      if (is_sweep(one))
        check_sweep(one, repair_, report_);
      else if (all && is_run_folder(one))
        check_run(one, repair_, report_);
    }
  }

  int conclude() const {
    for (const std::string& note : report_.notes) std::cerr << "lunagrad runs: " << note << "\n";
    for (const Damage& damage : report_.damages)
      std::cout << damage.path << ": " << damage.what << (damage.repair.empty() ? "" : "; " + damage.repair)
                << "\n";
    std::cout << "checked " << counted(report_.runs, "run") << ", " << counted(report_.sweeps, "sweep");
    if (report_.bundles > 0) std::cout << ", " << counted(report_.bundles, "bundle");
    std::cout << ": " << (report_.damages.empty() ? "nothing" : std::to_string(report_.damages.size()))
              << " damaged";
    const auto repaired = std::count_if(report_.damages.begin(), report_.damages.end(),
                                        [](const Damage& damage) { return !damage.repair.empty(); });
    if (repaired > 0) std::cout << ", " << repaired << " repaired";
    std::cout << "\n";
    return report_.has_unrepaired() ? int(Outcome::file) : 0;
  }

 private:
  static std::string counted(size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  }

  // Also true for a run that has lost its metrics.
  static bool is_run_folder(const std::string& folder) {
    std::error_code ignored;
    return is_run(folder) || (fs::is_regular_file(folder + "/config.json", ignored) &&
                              fs::is_regular_file(folder + "/script.lua", ignored));
  }

  const bool repair_;
  CheckReport report_;
};

}  // namespace

int check_runs(const std::vector<std::string>& names, const std::string& folder, bool repair) {
  Checking checking(repair);
  for (const std::string& name : names) checking.take(name, folder);
  if (names.empty()) {
    checking.take_folder(folder, true);
    // Sweeps are made beside the folder runs/.
    const fs::path path = fs::path(folder.substr(0, folder.find_last_not_of('/') + 1));
    if (path.filename() == "runs")
      checking.take_folder(path.has_parent_path() ? path.parent_path().string() : ".", false);
  }
  return checking.conclude();
}

}  // namespace lunagrad
