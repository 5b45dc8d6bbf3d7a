#pragma once
// The peak memory of a test's ops.
#include <algorithm>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/trace.h"

namespace lunagrad::tests {

// Records the largest memory in use after any op.
class Peak final : public Trace {
 public:
  Peak() : before_(cpu_device().memory().in_use) { context().trace = this; }
  ~Peak() override { context().trace = nullptr; }
  void ran(const Call&, uint64_t) override { most_ = std::max(most_, cpu_device().memory().in_use); }
  void fell_back(const Call&, const char*) override {}
  double mebibytes() const { return double(most_ - before_) / (1 << 20); }  // above the use at the start

 private:
  size_t before_, most_ = 0;
};

}  // namespace lunagrad::tests
