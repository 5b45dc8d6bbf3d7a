// Environment: the system under the window and the engine: versions, devices with their memory, processors.
// Copy puts all of it on the clipboard, for a report.
#include <GLFW/glfw3.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "runtime/core/device.h"
#include "runtime/core/figures.h"
#include "runtime/core/version.h"
#include "ui/base/device_list.h"
#include "ui/base/redraw.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

struct MachineMemory {
  double resident = 0, available = 0, total = 0;  // bytes
};

MachineMemory read_memory() {
  MachineMemory memory;
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  if (statm >> pages >> pages) memory.resident = pages * double(sysconf(_SC_PAGESIZE));
  std::ifstream info("/proc/meminfo");
  std::string key;
  for (double kib = 0; info >> key >> kib; info.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (key == "MemTotal:") memory.total = kib * 1024;
    if (key == "MemAvailable:") memory.available = kib * 1024;
  }
  return memory;
}

std::string system_name() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release + ", " + name.machine : "unknown";
}

class EnvironmentPanel final : public Panel {
 public:
  const char* title() const override { return "Environment"; }
  Region region() const override { return Region::lower_right; }
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    add_own_command(
        bench, "Copy", "Copies versions, devices and processors as text.",
        [this] { ImGui::SetClipboardText(text_.c_str()); }, [this] { return !text_.empty(); });
  }

  void draw_tools(Workbench& bench) override {
    if (ImGui::Button("Copy")) ImGui::SetClipboardText(text_.c_str());
    bench.description().add_last("environment.copy", text_);
    explain("Copies everything below as text.");
  }

  void draw(Workbench& bench) override {
    devices_.look(bench.wake());
    if (const auto now = std::chrono::steady_clock::now(); now >= next_look_) {
      memory_ = read_memory();
      next_look_ = now + std::chrono::seconds(1);
    }
    if (bench.journal().active()) draw_again_in(1);
    text_.clear();
    ImGui::BeginChild("rows");
    if (begin_section("Versions")) {
      row(bench, "Lunagrad", LUNAGRAD_VERSION);
      row(bench, "Dear ImGui", ImGui::GetVersion());
      row(bench, "GLFW", glfwGetVersionString());
      row(bench, "compiler", kCompiler);
      row(bench, "system", system_name());
      ImGui::EndTable();
    }
    draw_devices(bench);
    if (begin_section("This machine")) {
      const unsigned cores = std::thread::hardware_concurrency();
      row(bench, "processors", std::to_string(cores));
      row(bench, "memory",
          bytes_figure(memory_.total - memory_.available) + " of " + bytes_figure(memory_.total) +
              " in use, " + bytes_figure(memory_.available) + " available",
          memory_.total > 0 ? 1 - memory_.available / memory_.total : -1);
      row(bench, "this process", bytes_figure(memory_.resident) + " resident",
          memory_.total > 0 ? memory_.resident / memory_.total : -1);
      ImGui::EndTable();
    }
    ImGui::EndChild();
  }

 private:
  bool begin_section(const char* heading) {
    if (!text_.empty()) ImGui::Dummy({1, em(0.3f)});
    bold_text(heading);
    text_ += std::string(heading) + "\n";
    if (!ImGui::BeginTable(heading, 2, ImGuiTableFlags_BordersInnerH)) return false;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, em(6.5f));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    return true;
  }

  void draw_devices(Workbench& bench) {
    if (!begin_section("Devices")) return;
    if (!devices_.ready()) {
      row(bench, "", "looking for devices");
    } else {
      for (const auto& device : devices()) {
        const DeviceMemory memory = device->memory();
        std::string figures = bytes_figure(double(memory.in_use)) + " in tensors, " +
                              bytes_figure(double(memory.peak)) + " at the peak";
        if (memory.total > 0) figures += ", of " + bytes_figure(double(memory.total));
        row(bench, std::string(device->name()), device->description() + "\n" + figures,
            memory.total > 0 ? double(memory.in_use) / double(memory.total) : -1);
      }
      if (!devices_.missing().empty()) row(bench, "missing", devices_.missing());
    }
    ImGui::EndTable();
  }

  // Shows `part`, from 0 to 1, as a bar below the text; a negative `part` has no bar.
  void row(Workbench& bench, const std::string& name, const std::string& value, double part = -1) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", name.c_str());
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos();
    text_in(theme().text, "%s", value.c_str());
    ImGui::PopTextWrapPos();
    const std::string line = name.empty() ? value : name + ": " + value;
    bench.description().add_last("environment.row", line);
    text_ += "  " + line + "\n";
    if (part < 0) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = em(0.3f);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + width, at.y + height}, theme().raised, height / 2);
    const float filled = std::max(width * float(std::min(part, 1.0)), height);
    list->AddRectFilled(at, {at.x + filled, at.y + height}, theme().accent, height / 2);
    ImGui::Dummy({width, height + em(0.15f)});
  }

  DeviceList devices_;
  MachineMemory memory_;
  std::chrono::steady_clock::time_point next_look_;
  std::string text_;  // the whole shown text, for Copy
};

}  // namespace

std::unique_ptr<Panel> make_environment_panel() { return std::make_unique<EnvironmentPanel>(); }

}  // namespace lunagrad
