#include "runtime/system/libraries.h"

#include <dlfcn.h>

#include <filesystem>

namespace lunagrad {
namespace {

// The file of the library with this code, as it was loaded; "" when unknown.
std::string loaded_file() {
  static const char inside = 0;
  Dl_info found;
  return dladdr(&inside, &found) && found.dli_fname ? found.dli_fname : "";
}

}  // namespace

std::string own_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
}

std::string own_neighbour(const std::string& name) {
  return (std::filesystem::path(own_program()).parent_path() / name).string();
}

std::string own_library_file() {
  const std::string file = loaded_file();
  std::error_code none;
  return file.empty() ? file : std::filesystem::canonical(file, none).string();
}

std::string library_beside(const std::string& name, const std::string& folder) {
  const std::string own = loaded_file(), beside = own.substr(0, own.rfind('/') + 1),
                    file = "lib" + name + ".so";
  const std::string installed = beside + folder + "/" + file;
  std::error_code none;
  return std::filesystem::exists(installed, none) ? installed : beside + file;
}

// RTLD_GLOBAL: Open MPI's plug-ins look up symbols of the library that loads them.
void* load_library(const std::string& file, std::string& why) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) why = ::dlerror();
  return library;
}

void* find_symbol(void* library, const char* name) { return ::dlsym(library, name); }

}  // namespace lunagrad
