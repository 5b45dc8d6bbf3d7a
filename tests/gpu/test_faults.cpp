// Vulkan calls that fail: each raises an error in time, and the device stays usable. It is opened again if
// its work was lost.
#include <cstdlib>

#include "gpu/device/device.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/faults.h"
#include "tests/gpu/upload_queue.h"
#include "tests/support/recorder.h"
#include "tests/support/timing.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

// The parameters of a small classifier after a step of SGD.
std::vector<double> training_step(Device& device) {
  const Tensor x = to(random({16, 12}, 1), device);
  const std::vector<int64_t> ids = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  const Tensor labels = Tensor::from<int64_t>(ids, {16}, device);
  TensorList params;
  for (const Shape& shape : {Shape{8, 12}, Shape{8}, Shape{4, 8}, Shape{4}})
    params.push_back(to(random(shape, 10 + params.size(), -0.3, 0.3), device).detach().requires_grad_());
  const Tensor hidden = relu(linear(x, params[0], params[1]));
  backward(cross_entropy(linear(hidden, params[2], params[3]), labels));
  TensorList grads;
  for (const Tensor& p : params) grads.push_back(p.grad());
  sgd_step(params, grads, {}, {.lr = 0.1, .step = 1});
  // Large enough for a copy on the upload queue.
  const Tensor large = to(random({600, 600}, 2), device);
  std::vector<double> numbers = sum(large).to_vector<double>();
  for (const Tensor& p : params)
    for (const double value : p.detach().to_vector<double>()) numbers.push_back(value);
  return numbers;
}

TEST_CASE("whichever Vulkan call fails, a training step raises an error in time and the next one is right") {
  std::string reason;
  const std::shared_ptr<gpu::Instance> instance = gpu::Instance::open(reason);
  REQUIRE(instance);
  watch_calls();
  std::string rejected;
  const gpu::PhysicalDevice physical = with_upload_queue(instance->physical_devices(rejected).front());
  std::vector<double> expected;
  {
    gpu::VulkanDevice device("vulkan", instance, physical);
    expected = training_step(device);
  }
  const uint64_t apart = std::getenv("LUNAGRAD_TEST_ALL") ? 1 : 6;  // all calls, or one of six
  uint64_t at = 1;
  while (true) {
    gpu::VulkanDevice device("vulkan", instance, physical);
    fail_call(at);
    try {
      // Some calls are tried again, for example allocations of memory: then there is no error.
      const std::vector<double> got = training_step(device);
      CHECK_MESSAGE(got == expected, "call " << at);
    } catch (const Error& error) {
      const std::string message = error.what();
      INFO("call " << at << ": " << message);
      CHECK(seconds_since_failure() < kHangSeconds);
      CHECK_TIME(in_time(seconds_since_failure(), 2));
      CHECK_MESSAGE((error.kind() == ErrorKind::device || error.kind() == ErrorKind::memory), message);
      CHECK_MESSAGE(message.find("vulkan: ") != std::string::npos, message);
    }
    if (!call_failed()) break;
    fail_call(0);
    const std::vector<double> again = training_step(device);
    CHECK_MESSAGE(again == expected, "behind call " << at);
    CHECK_MESSAGE(device.memory().in_use == 0, "behind call " << at);
    at += apart;
  }
  fail_call(0);
  CHECK(at > 40);
}

TEST_CASE("an allocation that fails frees what is only kept, and is tried again") {
  std::string reason, rejected;
  const std::shared_ptr<gpu::Instance> instance = gpu::Instance::open(reason);
  REQUIRE(instance);
  watch_calls();
  gpu::VulkanDevice device("vulkan", instance, instance->physical_devices(rejected).front());
  constexpr size_t kMoreThanABlock = size_t(300) << 20;
  {
    // The memory that is freed is enough.
    struct Kept final : gpu::KeptMemory {
      explicit Kept(gpu::Memory& of) : memory(of), range(of.alloc(kMoreThanABlock)) {}
      void clear() noexcept override { memory.free(std::exchange(range, nullptr)); }
      gpu::Memory& memory;
      gpu::Range* range;
    };
    gpu::Memory memory(device.machine().context);
    Kept kept(memory);
    const gpu::Range* const first = kept.range;
    memory.may_clear(&kept);
    fail_call(1);
    gpu::Range* const again = memory.alloc(kMoreThanABlock);
    CHECK(call_failed());
    CHECK(again == first);
    CHECK(kept.range == nullptr);
    memory.free(again);
    fail_call(0);
  }
  // Sorted indices are such memory.
  const NoGrad off;
  std::vector<int64_t> ids(3000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = int64_t(i * 7 % 50);
  const Tensor index = Tensor::from<int64_t>(ids, {3000}, device),
               source = ones({3000, 2}, DType::f32, device), target = zeros({50, 2}, DType::f32, device);
  const size_t before = device.memory().in_use;
  const std::vector<float> sums = index_add(target, 0, index, source).to_vector<float>();
  CHECK(device.memory().in_use >= before + 3000 * 8);
  fail_call(1);
  const Tensor large = Tensor::empty({int64_t(kMoreThanABlock)}, DType::u8, device);
  CHECK(call_failed());
  fail_call(0);
  CHECK(device.memory().in_use == before + large.nbytes());
  CHECK(index_add(target, 0, index, source).to_vector<float>() == sums);
}

TEST_CASE("a script catches the loss of its device and continues, on that device and on the CPU") {
  Recorder recorder;
  recorder.also = [](const Event& event) {
    if (event.kind == Event::Kind::output && event.text == "lose it\n") fail_submission(1);
  };
  RunOptions options;
  options.device = "vulkan";
  const Outcome outcome = recorder.finish(R"(
    local lg = require "lunagrad.core"
    local kept = lg.ones(3)
    assert(kept:sum():item() == 3)
    print "lose it"
    local ok, message = pcall(function() return (kept + 1):sum():item() end)
    assert(not ok and message:find("the device was lost", 1, true), message)
    ok, message = pcall(function() return kept:sum():item() end)
    assert(not ok and message:find("its values are gone", 1, true), message)
    assert((lg.ones(4) * 2):sum():item() == 8)
    assert((lg.ones(4, {device = "cpu"}) * 2):sum():item() == 8)
  )",
                                          options);
  fail_submission(0);
  CHECK_MESSAGE(outcome == Outcome::ok, recorder.error());
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
