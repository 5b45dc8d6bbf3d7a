#include "script/cli/command/open.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>

#include "runtime/io/own_file.h"
#include "script/cli/command/all.h"
#include "script/session.h"

namespace lunagrad {
namespace {

std::string workbench() { return own_neighbour("lunagrad-workbench"); }

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

// Libraries that the workbench is linked with; the system cannot start it without them.
struct Library {
  const char* file;
  const char* what;
};
constexpr Library kLibraries[] = {
    {"libvulkan.so.1", "Vulkan's loader (package libvulkan1, and a driver: mesa-vulkan-drivers)"},
    {"libglfw.so.3", "GLFW (package libglfw3)"},
    {"libfontconfig.so.1", "fontconfig (package libfontconfig1)"},
};

bool can_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

std::string missing_for_window() {
  std::error_code error;
  if (!std::filesystem::exists(workbench(), error))
    return workbench() + " is not there; it is built with -DLUNAGRAD_UI=ON";
  for (const Library& library : kLibraries)
    if (!can_load(library.file))
      return std::string(library.file) + " cannot be loaded: install " + library.what;
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
    return "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): log in on a desktop, use ssh "
           "-X, or "
           "xvfb-run (package xvfb)";
  return {};
}

namespace {

// Returns only when the workbench cannot be started.
int open_workbench(const std::vector<std::string>& arguments) {
  if (const std::string missing = missing_for_window(); !missing.empty()) {
    std::cerr << "lunagrad open: " << missing << "\n"
              << "lunagrad open: lunagrad run SCRIPT needs no window\n";
    return int(Outcome::device);
  }
  const std::string program = workbench();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  std::cerr << "lunagrad open: " << program << ": " << std::strerror(errno) << "\n";
  return int(Outcome::device);
}

}  // namespace

Action add_open(Program& program) {
  const auto arguments = std::make_shared<std::vector<std::string>>();
  CLI::App& command = add_command(program, "open", "open the workbench window: [SCRIPT] [ARGS]");
  add_arguments(command, "arguments", *arguments, "for the workbench");
  const auto ranks = std::make_shared<std::optional<int64_t>>();
  add_option(command, "--ranks", *ranks,
             "run the script in so many processes; the window shows rank 0: lunagrad help what-the-ranks-do");
  return [=] {
    std::vector<std::string> words;
    if (*ranks) words = {"--ranks", std::to_string(**ranks)};
    words.insert(words.end(), arguments->begin(), arguments->end());
    return open_workbench(words);
  };
}

}  // namespace lunagrad
