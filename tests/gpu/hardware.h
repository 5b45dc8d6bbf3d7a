#pragma once
// The first device of the machine, for tests that open it themselves.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "gpu/vulkan/context.h"

namespace lunagrad::tests {

struct Hardware {
  std::shared_ptr<gpu::Instance> instance;
  gpu::PhysicalDevice physical;
};
inline Hardware first_hardware() {
  std::string said;
  Hardware found{gpu::Instance::open(said), {}};
  REQUIRE_MESSAGE(found.instance, said);
  found.physical = found.instance->physical_devices(said).front();
  return found;
}

}  // namespace lunagrad::tests
