#include "ui/window/draw_threads.h"

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace lunagrad {

std::set<int> driver_threads() {
  std::set<int> threads;
  std::error_code gone;  // a thread may end meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("llvmpipe")) threads.insert(std::atoi(task.path().filename().c_str()));
  }
  return threads;
}

void let_driver_threads_yield(const std::set<int>& earlier) {
  constexpr int kNice = 10;
  for (const int thread : driver_threads())
    if (!earlier.count(thread))
      setpriority(PRIO_PROCESS, id_t(thread), getpriority(PRIO_PROCESS, id_t(thread)) + kNice);
}

}  // namespace lunagrad
