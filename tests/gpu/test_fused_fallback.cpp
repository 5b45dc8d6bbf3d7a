// A group for whose shader no pipeline can be created runs its members one by one, with one message.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "gpu/device/device.h"
#include "runtime/deferral/defer.h"
#include "tests/gpu/cache_home.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/faults.h"
#include "tests/gpu/hardware.h"
#include "tests/gpu/wait_for_shaders.h"
#include "tests/support/files.h"
#include "tests/support/same_bits.h"

namespace lunagrad::tests {
namespace {

// What `work` writes to stderr.
template <class Work>
std::string errors_of(const std::string& file, const Work& work) {
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  REQUIRE(std::freopen(file.c_str(), "w", stderr));
  work();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_CASE("a group without a pipeline runs its members one by one and says so once") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const auto [instance, physical] = first_hardware();
  watch_calls();
  gpu::VulkanDevice device("vulkan", instance, physical);
  const Tensor x = to(random({37, 11}, 1), device);
  const auto chain = [&] { return (exp2(x * 0.25) - 7.0) * 9.0; };
  const Tensor expected = to(chain(), cpu_device());  // also creates the pipelines of the members
  const WaitForShaders wait;
  const std::string told = errors_of(folder.file("errors"), [&] {
    fail_pipelines(true);
    for (int i = 0; i < 3; ++i) {
      CallQueue queue;
      const DeferCalls defer(&queue);
      const Tensor y = chain();
      queue.compute();
      CHECK(same_bits(to(y, cpu_device()), expected));
    }
    fail_pipelines(false);
  });
  CHECK(told ==
        "vulkan: the calls of a group of mul exp2 sub mul run one by one: the driver made no "
        "pipeline of their shader\n");
}

}  // namespace
}  // namespace lunagrad::tests
