// Tests of the Vulkan device against the CPU. With LUNAGRAD_VALIDATION=1, messages of the validation layer
// are failures.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "gpu/gpu.h"
#include "runtime/core/device.h"
#include "tests/gpu/faults.h"

int main(int argc, char** argv) {
  lunagrad::gpu::install();
  if (lunagrad::find_device("vulkan")) lunagrad::tests::watch_calls();
  doctest::Context tests(argc, argv);
  const int result = tests.run();
  lunagrad::gpu::close();
  const int messages = lunagrad::gpu::validation_messages();
  if (messages > 0) std::fprintf(stderr, "%d validation messages\n", messages);
  return result != 0 || messages > 0;
}
