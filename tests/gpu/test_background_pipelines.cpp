// Pipelines that are created in the background, and the list of pipelines that are created before they are
// requested.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "gpu/device/device.h"
#include "gpu/vulkan/background_pipelines.h"
#include "gpu/vulkan/pipeline_list.h"
#include "tests/gpu/cache_home.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/faults.h"
#include "tests/gpu/hardware.h"
#include "tests/support/files.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

using gpu::BackgroundPipelines;
using gpu::PipelineKey;

PipelineKey key(const char* shader, std::vector<uint32_t> constants) {
  return {gpu::find_shader(shader), std::move(constants)};
}

// A handle in place of a pipeline, for tests without a device.
VkPipeline number(uintptr_t value) { return reinterpret_cast<VkPipeline>(value); }
uintptr_t number(VkPipeline pipeline) { return reinterpret_cast<uintptr_t>(pipeline); }
VkPipeline first_constant(const PipelineKey& key) { return number(key.constants.at(0)); }

std::vector<PipelineKey> numbered(uint32_t count) {
  std::vector<PipelineKey> keys;
  for (uint32_t i = 1; i <= count; ++i) keys.push_back(key("copy", {i}));
  return keys;
}

TEST_CASE("a pipeline list is parsed as it was written") {
  gpu::PipelineList list = {
      {key("copy", {1, 2, 3}), 0}, {key("matmul_cooperative", {}), 3}, {key("softmax", {~0u}), 7}};
  list[1].key.code.bfloat = true;
  const gpu::PipelineList got = gpu::pipeline_list(gpu::to_text(list));
  REQUIRE(got.size() == list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    CHECK(got[i].key == list[i].key);
    CHECK(got[i].key.code.name == list[i].key.code.name);
    CHECK(got[i].runs == list[i].runs);
  }
}

TEST_CASE("damaged lines of the pipeline list and lines of other shaders are skipped") {
  const std::string good = gpu::to_text({{key("copy", {1, 2}), 0}});
  CHECK(gpu::pipeline_list(good).size() == 1);
  for (size_t length = 0; length + 6 < good.size(); ++length)  // before the constants
    CHECK_MESSAGE(gpu::pipeline_list(good.substr(0, length)).empty(), good.substr(0, length));
  std::string other_code = good, other_name = good;
  other_code[6] = other_code[6] == '0' ? '1' : '0';
  other_name[0] = 'k';
  std::string many = good.substr(0, good.size() - 1);
  for (int i = 0; i < 40; ++i) many += " 7";
  for (const std::string& bad : {other_code, other_name, many + "\n", std::string("copy\n\n x y\n"),
                                 good.substr(0, good.size() - 1) + " x\n"})
    CHECK_MESSAGE(gpu::pipeline_list(bad).empty(), bad);
  CHECK(gpu::pipeline_list(other_code + good + other_name).size() == 1);
  std::string endless;
  for (int i = 0; i < 2000; ++i) endless += good;
  CHECK(gpu::pipeline_list(endless).size() == 512);
}

TEST_CASE("the pipelines of the last run come first, and those unused for many runs are dropped") {
  const std::vector<PipelineKey> keys = numbered(3);
  gpu::PipelineList list = gpu::after_run({}, {keys[0], keys[1]});
  list = gpu::after_run(list, {keys[2], keys[1]});
  REQUIRE(list.size() == 3);
  CHECK(list[0].key == keys[2]);
  CHECK(list[1].key == keys[1]);
  CHECK(list[2].key == keys[0]);
  CHECK(list[2].runs == 1);
  for (int i = 0; i < 7; ++i) list = gpu::after_run(list, {keys[2], keys[1]});
  CHECK(list.size() == 2);
  // Kernels of scripts are not listed.
  PipelineKey own = keys[0];
  const std::vector<uint32_t> words = gpu::words_of(own.code);
  own.code = gpu::shader_code(own.code.name, words);
  CHECK(gpu::words_of(own.code) == words);
  CHECK(gpu::after_run({}, {own}).empty());
  CHECK(gpu::after_run({}, numbered(600)).size() == 512);
}

TEST_CASE("expected pipelines are created in order, taken once, and the rest is returned at the end") {
  std::vector<uint32_t> order;
  BackgroundPipelines background(numbered(4), 1, [&](const PipelineKey& key) {
    order.push_back(key.constants[0]);
    return first_constant(key);
  });
  background.finish();
  CHECK(order == std::vector<uint32_t>{1, 2, 3, 4});
  BackgroundPipelines::Job& second = background.ask(key("copy", {2}));
  CHECK(background.made(second));
  CHECK(number(background.take(second)) == 2);
  CHECK(!background.made(second));
  const std::vector<VkPipeline> left = background.stop();
  REQUIRE(left.size() == 3);
  CHECK(number(left[0]) == 1);
  CHECK(number(left[2]) == 4);
  CHECK(background.stop().empty());
  CHECK(order.size() == 4);
}

TEST_CASE(
    "requested pipelines are created before expected ones, and take() creates those that no thread has "
    "begun") {
  std::promise<void> begun, go_on;
  std::mutex mutex;
  std::vector<uint32_t> order;
  BackgroundPipelines background(numbered(3), 1, [&](const PipelineKey& key) {
    bool first;
    {
      const std::lock_guard lock(mutex);
      order.push_back(key.constants[0]);
      first = order.size() == 1;
    }
    if (first) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return first_constant(key);
  });
  begun.get_future().wait();
  BackgroundPipelines::Job &first = background.ask(key("copy", {1})),
                           &third = background.ask(key("copy", {3})),
                           &other = background.ask(key("copy", {9})),
                           &last = background.ask(key("copy", {8}));
  CHECK(number(background.take(other)) == 9);
  auto waits = std::async(std::launch::async, [&] { return background.take(first); });
  CHECK(waits.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  CHECK(!background.made(first));
  go_on.set_value();
  CHECK(number(waits.get()) == 1);
  background.finish();
  CHECK(order == std::vector<uint32_t>{1, 9, 3, 8, 2});
  CHECK(number(background.take(third)) == 3);
  CHECK(number(background.take(last)) == 8);
  CHECK(background.stop().size() == 1);
}

TEST_CASE("take() throws each time a pipeline cannot be created") {
  std::atomic<int> tries = 0;
  BackgroundPipelines background({}, 2, [&](const PipelineKey& key) {
    if (++tries < 3) throw std::runtime_error("cannot be made");
    return first_constant(key);
  });
  BackgroundPipelines::Job& job = background.ask(key("copy", {5}));
  background.finish();
  CHECK(tries == 1);
  CHECK_THROWS_WITH(background.take(job), "cannot be made");
  CHECK(number(background.take(job)) == 5);
  CHECK(background.stop().empty());
}

TEST_CASE("several threads create each pipeline once") {
  std::atomic<int> made = 0;
  BackgroundPipelines background(numbered(200), 4, [&](const PipelineKey& key) {
    ++made;
    return first_constant(key);
  });
  uintptr_t sum = 0;
  for (uint32_t i = 300; i > 0; --i) sum += number(background.take(background.ask(key("copy", {i}))));
  CHECK(sum == 300 * 301 / 2);
  CHECK(background.stop().empty());
  CHECK(made == 300);
}

TEST_CASE("stopping waits only for the pipeline that is being created") {
  std::promise<void> begun;
  std::atomic<int> made = 0;
  BackgroundPipelines background(numbered(400), 1, [&](const PipelineKey& key) {
    if (++made == 1) begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return first_constant(key);
  });
  begun.get_future().wait();
  CHECK(background.stop().size() == size_t(made));
  CHECK(made < 400);
}

// The result of a few ops with different kernels.
std::vector<float> some_work(Device& device) {
  const NoGrad off;
  const Tensor x = to(random({40, 30}, 1), device);
  return softmax(tanh(matmul(x, transpose(x, 0, 1))) + 1.0, -1).to_vector<float>();
}

TEST_CASE("the second start creates the pipelines of the first in the background and uses them") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const auto [instance, physical] = first_hardware();
  std::vector<float> expected;
  {
    gpu::VulkanDevice device("vulkan", instance, physical);
    expected = some_work(device);
    CHECK(device.machine().pipelines.made_before_use() == 0);
  }
  {
    gpu::VulkanDevice device("vulkan", instance, physical);
    device.machine().pipelines.finish_background();
    CHECK(some_work(device) == expected);
    CHECK(device.machine().pipelines.made_before_use() >= 4);
  }
  for (int i = 0; i < 5; ++i) {  // closed while it creates them
    gpu::VulkanDevice device("vulkan", instance, physical);
    device.machine();
    if (i % 2 == 0) CHECK(some_work(device) == expected);
  }
}

TEST_CASE("the host continues while pipelines are created") {
  const Folder folder;
  const auto [instance, physical] = first_hardware();
  watch_calls();
  const std::vector<float> expected = [&] {
    const CacheHome home(folder.file("first cache"));
    gpu::VulkanDevice device("vulkan", instance, physical);
    return some_work(device);
  }();
  const CacheHome home(folder.file("cache"));
  gpu::VulkanDevice device("vulkan", instance, physical);
  const NoGrad off;
  Tensor x = to(random({40, 30}, 1), device);
  hold_pipelines(true);
  for (int i = 0; i < 8; ++i) x = x * 0.5 + x * 0.5;  // enough to keep the device from idling
  const Tensor y = softmax(tanh(matmul(x, transpose(x, 0, 1))) + 1.0, -1);
  hold_pipelines(false);
  CHECK(y.to_vector<float>() == expected);
  CHECK(!held_too_long());
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
