// Work on another thread: in order, reported on the calling thread, finished before its owner is destroyed.
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "ui/base/background_tasks.h"

using namespace lunagrad;

TEST_CASE("background_tasks run in order on another thread; update() reports their exceptions as text") {
  std::atomic<int> woken = 0;
  BackgroundTasks background_tasks([&] { ++woken; });
  std::string order, told;
  std::thread::id other;
  background_tasks.add([&] { order += "a", other = std::this_thread::get_id(); },
                       [&](const std::string& problem) { told += "[" + problem + "]"; });
  background_tasks.add(
      [&] {
        order += "b";
        throw std::runtime_error("no room");
      },
      [&](const std::string& problem) { told += "[" + problem + "]"; });
  while (woken < 2) std::this_thread::yield();
  CHECK(told.empty());
  CHECK(background_tasks.update());
  CHECK(told == "[][no room]");
  CHECK(order == "ab");
  CHECK(other != std::this_thread::get_id());
  CHECK_FALSE(background_tasks.update());
}

TEST_CASE("the destructor finishes background_tasks and reports nothing") {
  int done = 0, told = 0;
  {
    BackgroundTasks background_tasks;
    for (int i = 0; i < 20; ++i) background_tasks.add([&] { ++done; }, [&](const std::string&) { ++told; });
  }
  CHECK(done == 20);
  CHECK(told == 0);
}
