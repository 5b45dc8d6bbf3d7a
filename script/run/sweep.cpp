#include "script/run/sweep.h"

#include <filesystem>

#include "script/parts/names.h"
#include "script/parts/parts.h"

namespace lunagrad {
namespace {

const SweepReader& sweep_reader(const std::string& folder) {
  if (const SweepReader* const part = parts().sweeps) return *part;
  fail_left_out(folder + ": the reader of sweeps");
}

}  // namespace

bool is_sweep(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(folder) / "sweep.json", ignored);
}

SweepSummary read_sweep(const std::string& folder) { return sweep_reader(folder).read(folder); }

RunOrigin origin_of_sweep(const std::string& folder) { return sweep_reader(folder).origin(folder); }

void check_sweep(const std::string& folder, bool repair, CheckReport& report) {
  sweep_reader(folder).check(folder, repair, report);
}

}  // namespace lunagrad
