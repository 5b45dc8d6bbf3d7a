// `lunagrad doctor`: checks what a run needs: the processor, devices and their arithmetic, the display, the
// Lua library, disk space for runs. Prints one line per finding, with a remedy for each fault.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "runtime/cpu/parallel.h"
#include "runtime/io/atomic_file.h"
#include "runtime/ops.h"
#include "script/cli/command/all.h"
#include "script/cli/command/open.h"
#include "script/guard/guard.h"
#include "script/meta/library.h"

extern char** environ;

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

class Report {
 public:
  template <class... Parts>
  void good(const Parts&... parts) {
    std::cout << "ok       " << text(parts...) << std::endl;
  }
  template <class... Parts>
  void note(const Parts&... parts) {
    std::cout << "note     " << text(parts...) << std::endl;
  }
  template <class... Parts>
  void fault(const Parts&... parts) {
    std::cout << "FAULT    " << text(parts...) << std::endl;
    ++faults_;
  }
  int faults() const { return faults_; }

 private:
  int faults_ = 0;
};

// A product and a sum with a known result: A I = A, whose elements sum to n (n - 1) / 2.
void try_arithmetic(Report& report, Device& device) {
  constexpr int64_t kSide = 64, kCount = kSide * kSide;
  try {
    const Tensor a = reshape(arange(0, kCount, 1, DType::f32, device), {kSide, kSide});
    const double found = to(sum(matmul(a, eye(kSide, kSide, DType::f32, device))), cpu_device()).item();
    const double expected = double(kCount) * (kCount - 1) / 2;
    if (found == expected) {
      report.good(device.name(), ": ", device.description());
    } else {
      report.fault(device.name(), ": ", device.description(), ": a product is wrong (", found, " instead of ",
                   expected, "); another driver may help");
    }
  } catch (const std::exception& error) {
    report.fault(device.name(), ": ", device.description(), ": ", error.what());
  }
}

void look_at_environment(Report& report) {
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view setting = *entry;
    if (setting.starts_with("OPENBLAS_CORETYPE=") || setting.starts_with("OPENBLAS_L2_SIZE="))
      report.note(setting,
                  " overrules what OpenBLAS would choose for this processor; matrix products may be slower");
    if (setting.starts_with("LUNAGRAD_BF16="))
      report.note(setting, " overrules which kernels this processor uses for bf16 products");
  }
  std::ifstream huge("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string choice;
  std::getline(huge, choice);
  if (choice.find("[never]") != std::string::npos)
    report.note("the system gives no huge pages; large tensors are a few per cent slower");
}

void look_at_display(Report& report) {
  const std::string missing = missing_for_window();
  if (missing.empty()) {
    report.good("window: there is what `lunagrad open` needs");
  } else {
    report.note("window: ", missing, "; everything else needs none");
  }
}

void look_at_library(Report& report) {
  std::error_code error;
  const std::string& folder = library_directory();
  if (fs::exists(folder + "/lunagrad/init.lua", error)) {
    report.good("Lua library: ", folder);
  } else {
    report.fault("Lua library: ", folder,
                 "/lunagrad/init.lua is missing; install again, or set LUNAGRAD_LUA");
  }
}

void look_at_runs(Report& report) {
  const std::string probe = text(".lunagrad-doctor-", getpid());
  try {
    write_file(probe, "probe");
    std::error_code ignored;
    fs::remove(probe, ignored);
    const fs::space_info space = fs::space(".", ignored);
    if (space.available < (uint64_t(1) << 30)) {
      report.note("runs: ", space.available >> 20, " MiB are free in this folder");
    } else {
      report.good("runs: this folder can be written, ", space.available >> 30, " GiB are free");
    }
  } catch (const Error& error) {
    report.fault("runs: ", error.what(), "; a run here needs --run-dir");
  }
}

void look_at_guards(Report& report) {
  for (const GuardSupport& wall : guard_support()) {
    if (wall.why.empty())
      report.good("sandbox: ", wall.name, ": ", wall.found);
    else
      report.note("sandbox: no ", wall.name, " (", wall.why,
                  "): the program's own checks alone limit a sandboxed script there");
  }
}

int examine() {
  Report report;
  report.good("threads: ", thread_count());
  for (const auto& device : devices()) try_arithmetic(report, *device);
  if (std::string missing = missing_devices(); !missing.empty()) {
    while (missing.ends_with('\n')) missing.pop_back();
    report.note(missing);
  }
  look_at_environment(report);
  look_at_library(report);
  look_at_display(report);
  look_at_runs(report);
  look_at_guards(report);
  return report.faults() ? 1 : 0;
}

}  // namespace

// Exit code 0, 1 when something that runs need is broken.
Action add_doctor(Program& program) {
  add_command(program, "doctor", "check this machine: devices, display, library, disk");
  return examine;
}

}  // namespace lunagrad
