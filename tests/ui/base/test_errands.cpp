// Work on another thread: in order, reported on the calling thread, finished before its owner is destroyed.
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "ui/base/errands.h"

using namespace lunagrad;

TEST_CASE("errands run in order on another thread; update() reports their exceptions as text") {
  std::atomic<int> woken = 0;
  Errands errands([&] { ++woken; });
  std::string order, told;
  std::thread::id other;
  errands.add([&] { order += "a", other = std::this_thread::get_id(); },
              [&](const std::string& problem) { told += "[" + problem + "]"; });
  errands.add(
      [&] {
        order += "b";
        throw std::runtime_error("no room");
      },
      [&](const std::string& problem) { told += "[" + problem + "]"; });
  while (woken < 2) std::this_thread::yield();
  CHECK(told.empty());
  CHECK(errands.update());
  CHECK(told == "[][no room]");
  CHECK(order == "ab");
  CHECK(other != std::this_thread::get_id());
  CHECK_FALSE(errands.update());
}

TEST_CASE("the destructor finishes errands and reports nothing") {
  int done = 0, told = 0;
  {
    Errands errands;
    for (int i = 0; i < 20; ++i) errands.add([&] { ++done; }, [&](const std::string&) { ++told; });
  }
  CHECK(done == 20);
  CHECK(told == 0);
}
